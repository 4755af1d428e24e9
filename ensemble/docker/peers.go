package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go/exec"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// hostName is the name by which containers reach this machine where the gateway of their
// network does not lead to it.
const hostName = "host.docker.internal"

// peers carries the connections between servers: a container dials the link on this
// machine, whose upstream is a relay, which dials the other container.
type peers struct {
	carrier    links.Network
	host       string // this machine, as containers dial it
	extraHosts []string
	links      map[[2]int][]links.Link
	relays     map[int][]*links.Relay // of a server: quorum and election port
}

func (e *Ensemble) openPeers(ctx context.Context) (_ *peers, err error) {
	p := &peers{links: map[[2]int][]links.Link{}, relays: map[int][]*links.Relay{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	gateway, here, err := e.gateway(ctx)
	if err != nil {
		return nil, err
	}
	if here {
		p.host = gateway.String()
		p.carrier, err = links.InProcess(links.WithListenAddress(p.host))
	} else {
		p.host, p.extraHosts = hostName, []string{hostName + ":host-gateway"}
		p.carrier, err = links.InProcess()
	}
	if err != nil {
		return nil, err
	}
	for _, to := range e.servers {
		if !here {
			free, err := links.FreePorts(2)
			if err != nil {
				return nil, err
			}
			to.published = map[int]int{quorumPort: free[0], electionPort: free[1]}
		}
		for _, port := range []int{quorumPort, electionPort} {
			r, err := links.OpenRelay(links.DialUntilOpen(func() string { return to.address(port) }))
			if err != nil {
				return nil, err
			}
			p.relays[to.ID] = append(p.relays[to.ID], r)
			for _, from := range e.servers {
				if from == to {
					continue
				}
				name := fmt.Sprintf("peer-%d-%d-%d", from.ID, to.ID, port)
				link, err := p.carrier.Link(ctx, name, net.JoinHostPort(loopback.String(), strconv.Itoa(r.Port())))
				if err != nil {
					return nil, err
				}
				key := [2]int{from.ID, to.ID}
				p.links[key] = append(p.links[key], link)
			}
		}
	}
	return p, nil
}

func (p *peers) close() error {
	var errs []error
	if p.carrier != nil {
		errs = append(errs, p.carrier.Close())
	}
	for _, pair := range p.relays {
		for _, r := range pair {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}

// line returns the entry for server to in the configuration of server from. A server's own entry
// has the wildcard, which a server does not tell its peers: they would dial its address and bypass
// the links. A container has no other address than loopback and that on the ensemble's network.
func (p *peers) line(from, to *server) string {
	host, quorum, election := to.alias(), strconv.Itoa(quorumPort), strconv.Itoa(electionPort)
	switch {
	case from == to:
		host = "0.0.0.0"
	case p != nil:
		pair := p.links[[2]int{from.ID, to.ID}]
		host = p.host
		_, quorum, _ = net.SplitHostPort(pair[0].Addr())
		_, election, _ = net.SplitHostPort(pair[1].Addr())
	}
	return fmt.Sprintf("server.%d=%s:%s:%s;2181", to.ID, host, quorum, election)
}

// gateway returns the address of this machine in the containers' network. here reports
// whether there is one: Docker may run in a virtual machine.
func (e *Ensemble) gateway(ctx context.Context) (gateway netip.Addr, here bool, err error) {
	found, err := e.docker.NetworkInspect(ctx, e.network.ID, client.NetworkInspectOptions{})
	if err != nil {
		return netip.Addr{}, false, err
	}
	for _, c := range found.Network.IPAM.Config {
		if c.Gateway.Is4() {
			gateway = c.Gateway
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, false, err
	}
	for _, a := range own {
		if ip, ok := a.(*net.IPNet); ok && gateway.IsValid() && ip.IP.Equal(gateway.AsSlice()) {
			return gateway, true, nil
		}
	}
	return gateway, false, nil
}

// address returns the address at which this machine currently reaches a port of the
// container.
func (s *server) address(port int) string {
	if at, ok := s.published[port]; ok {
		return net.JoinHostPort(loopback.String(), strconv.Itoa(at))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.container == nil {
		return "" // not yet
	}
	ip, ok := s.addresses["ip"]
	if !ok {
		inspected, err := s.container.Inspect(s.ensemble.ctx)
		if err != nil {
			return ""
		}
		end := inspected.NetworkSettings.Networks[s.ensemble.network.Name]
		if end == nil || !end.IPAddress.IsValid() {
			return ""
		}
		ip = end.IPAddress.String()
		s.addresses = map[string]string{"ip": ip}
	}
	return net.JoinHostPort(ip, strconv.Itoa(port))
}

// checkPeers fails when a server has dialled another around the links.
func (e *Ensemble) checkPeers(ctx context.Context) error {
	if e.peers == nil {
		return nil
	}
	for _, s := range e.servers {
		_, out, err := s.container.Exec(ctx, []string{"cat", "/proc/net/tcp"}, exec.Multiplexed())
		if err != nil {
			return fmt.Errorf("look at the connections of server %d: %w", s.ID, err)
		}
		text := new(strings.Builder)
		if _, err := io.Copy(text, out); err != nil {
			return err
		}
		for line := range strings.Lines(text.String()) {
			// sl local_address rem_address st …
			fields := strings.Fields(line)
			if len(fields) < 4 {
				continue
			}
			_, hex, _ := strings.Cut(fields[2], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			if err == nil && (port == quorumPort || port == electionPort) {
				return fmt.Errorf("server %d: %w", s.ID, ensemble.ErrDirectPeerLink)
			}
		}
	}
	return nil
}
