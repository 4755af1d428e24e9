package kerberos

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

// Config configures the client's principal and those of the servers. The zero value stands for
// the user of the default credential cache, and for servers with the principals zookeeper/HOST.
type Config struct {
	// Keytab names a file with the client's keys. Default: none; the credential cache is used.
	Keytab string
	// CCache names the file of a credential cache, as kinit makes it. Default: $KRB5CCNAME, then
	// /tmp/krb5cc_UID.
	CCache string
	// Principal is the client's principal, name@REALM, or name for the default realm. Default:
	// the first principal of the keytab. With a credential cache the client has the cache's
	// principal.
	Principal string
	// Service is the first part of the servers' principals, SERVICE/HOST, where HOST is the host
	// that was given to recipes.Connect, in lower case: no name server is asked for another name.
	// Default zookeeper.
	Service string
	// ServerPrincipal is the principal of all servers, such as zookeeper/zk.example.com, for
	// clients that reach the servers by other names or by addresses. Default: SERVICE/HOST for
	// each server.
	ServerPrincipal string
	// Krb5Conf names the file with the realms and their KDCs. Default: $KRB5_CONFIG, then
	// /etc/krb5.conf.
	Krb5Conf string
}

// New returns the mechanism. It asks no KDC. It returns an error for a file that is missing or
// has another format, for a Keytab with a CCache, and for a Principal that the keytab does not
// have.
func New(c Config) (*Mechanism, error) {
	m := &Mechanism{config: c, asking: make(chan struct{}, 1), tickets: make(map[string][]ticket)}
	if c.Keytab != "" && c.CCache != "" {
		return nil, errors.New("kerberos: a keytab and a credential cache: give one of them")
	}
	if c.CCache != "" && c.Principal != "" {
		return nil, errors.New("kerberos: the principal of a credential cache is its own: give none")
	}
	file := cmp.Or(c.Krb5Conf, os.Getenv("KRB5_CONFIG"), "/etc/krb5.conf")
	conf, err := guarded(file, config.Load)
	var unsupported config.UnsupportedDirective
	if err != nil && !errors.As(err, &unsupported) {
		return nil, fmt.Errorf("kerberos: the configuration of Kerberos, which names the KDCs: %w; give the file that your administrator has, or set KRB5_CONFIG", err)
	}
	m.krb5 = conf
	if c.Keytab != "" {
		_, err = m.keytab()
	} else {
		m.config.CCache = cmp.Or(c.CCache, strings.TrimPrefix(os.Getenv("KRB5CCNAME"), "FILE:"), "/tmp/krb5cc_"+strconv.Itoa(os.Getuid()))
		_, err = m.ccache()
	}
	if err != nil {
		return nil, fmt.Errorf("kerberos: %w", err)
	}
	return m, nil
}

// keys holds a keytab and the client's principal in it.
type keys struct {
	*keytab.Keytab
	name, realm string
}

// keytab reads the client's keytab.
func (m *Mechanism) keytab() (keys, error) {
	file := m.config.Keytab
	kt, err := guarded(file, keytab.Load)
	if err != nil {
		return keys{}, fmt.Errorf("keytab: %w; make one with ktadd or ktutil, and let the process read it", err)
	}
	var there []string
	for _, e := range kt.Entries {
		if p := strings.Join(e.Principal.Components, "/") + "@" + e.Principal.Realm; !slices.Contains(there, p) {
			there = append(there, p)
		}
	}
	if len(there) == 0 {
		return keys{}, fmt.Errorf("keytab %s: it has no keys", file)
	}
	principal := cmp.Or(m.config.Principal, there[0])
	if !strings.Contains(principal, "@") {
		principal += "@" + m.krb5.LibDefaults.DefaultRealm
	}
	if !slices.Contains(there, principal) {
		return keys{}, fmt.Errorf("keytab %s: it has no keys of %s, but of %s", file, principal, strings.Join(there, ", "))
	}
	at := strings.LastIndexByte(principal, '@')
	return keys{kt, principal[:at], principal[at+1:]}, nil
}

// ccache reads the client's credential cache.
func (m *Mechanism) ccache() (*credentials.CCache, error) {
	cache, err := guarded(m.config.CCache, credentials.LoadCCache)
	if err != nil {
		return nil, fmt.Errorf("credential cache: %w; run kinit, or give a keytab", err)
	}
	return cache, nil
}

// guarded loads a file, and recovers from panics: gokrb5 panics on some files of other formats.
func guarded[T any](file string, load func(string) (T, error)) (value T, err error) {
	if _, err := os.Stat(file); err != nil {
		return value, err
	}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%s: it has something else in it", file)
		}
	}()
	if value, err = load(file); err != nil {
		return value, fmt.Errorf("%s: %w", file, err)
	}
	return value, nil
}

// serverPrincipal returns the principal of a server that is given as host:port.
func (m *Mechanism) serverPrincipal(server string) string {
	if p := m.config.ServerPrincipal; p != "" {
		name, _, _ := strings.Cut(p, "@")
		return name
	}
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		host = server
	}
	return cmp.Or(m.config.Service, "zookeeper") + "/" + strings.ToLower(strings.TrimSuffix(host, "."))
}
