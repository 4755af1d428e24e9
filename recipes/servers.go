package recipes

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// defaultPort is the port of a server without one: ZooKeeper's usual clientPort.
const defaultPort = "2181"

// ParseServers parses a ZooKeeper connect string, in one element or in several that are joined by
// commas: a list of host:port, or host alone for port 2181, with an optional chroot at its end:
// "zk1:2181,zk2:2181/app". An IPv6 address stands in brackets: "[2001:db8::1]:2181". It returns
// each server as host:port, and the chroot, or "" if there is none. For other text it returns
// [ErrBadServers] with the reason.
func ParseServers(elements []string) (servers []string, chroot string, err error) {
	text := strings.Join(elements, ",")
	switch {
	case text == "":
		return nil, "", fmt.Errorf("%w: there are none", ErrBadServers)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return nil, "", fmt.Errorf("%w: %.80q has a space or another character that no address has", ErrBadServers, text)
	case strings.Contains(text, "://"):
		return nil, "", fmt.Errorf("%w: %.80q is a URL, and a server is host:port", ErrBadServers, text)
	}
	list, rest, chrooted := strings.Cut(text, "/")
	if chrooted && rest != "" { // "host:2181/" is "host:2181"
		if chroot = "/" + rest; strings.Contains(chroot, ",") {
			return nil, "", fmt.Errorf("%w: %.80q has something behind its chroot, which stands once, at the end of the list", ErrBadServers, text)
		}
		if session.CheckPath(chroot) != nil {
			return nil, "", fmt.Errorf("%w: the chroot %.80q is no path of ZooKeeper", ErrBadServers, chroot)
		}
	}
	for server := range strings.SplitSeq(list, ",") {
		host, port, err := splitServer(server)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrBadServers, err)
		}
		servers = append(servers, net.JoinHostPort(host, port))
	}
	return servers, chroot, nil
}

// splitServer returns the host and the port of one server.
func splitServer(server string) (host, port string, err error) {
	switch {
	case server == "":
		return "", "", fmt.Errorf("a server is empty")
	case strings.HasPrefix(server, "[") && strings.HasSuffix(server, "]"):
		server += ":" + defaultPort
	case !strings.Contains(server, ":"):
		server += ":" + defaultPort
	case strings.Count(server, ":") > 1 && !strings.HasPrefix(server, "["):
		return "", "", fmt.Errorf("%.80q has several colons: an IPv6 address stands in brackets, as in [::1]:2181", server)
	}
	if host, port, err = net.SplitHostPort(server); err != nil {
		return "", "", fmt.Errorf("%.80q is not host:port", server)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' {
		return "", "", fmt.Errorf("%.80q has no port from 1 to 65535", server)
	}
	if strings.Contains(server, "[") {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Is6() {
			return "", "", fmt.Errorf("%.80q has brackets, and no IPv6 address in them", server)
		}
		return host, port, nil
	}
	if host == "" || strings.ContainsFunc(host, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._", r)
	}) {
		return "", "", fmt.Errorf("%.80q has no name of a host or address", server)
	}
	return host, port, nil
}
