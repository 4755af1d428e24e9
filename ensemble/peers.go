package ensemble

import (
	"context"
	"fmt"
	"net/netip"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble/links"
)

// openPeers makes a link for each ordered pair of servers and each of the two ports at
// which peers dial a server.
func (l *Local) openPeers(ctx context.Context) error {
	if l.config.Peers == nil {
		return nil
	}
	for _, from := range l.servers {
		var err error
		if from.socks, err = links.OpenSOCKS(func(to netip.AddrPort) string { return l.route(from, to) }); err != nil {
			return err
		}
	}
	for _, to := range l.servers {
		var err error
		if to.relay, err = links.OpenRelay(links.DialUntilOpen(func() string { return loopback(to.quorum) })); err != nil {
			return err
		}
		for _, from := range l.servers {
			if from == to {
				continue
			}
			for _, port := range []struct {
				name   string
				number int
			}{{"quorum", to.relay.Port()}, {"election", to.election}} {
				name := fmt.Sprintf("peer-%d-%d-%s", from.ID, to.ID, port.name)
				link, err := l.config.Peers.Link(ctx, name, loopback(port.number))
				if err != nil {
					return err
				}
				key := [2]int{from.ID, to.ID}
				l.peers[key] = append(l.peers[key], link)
			}
		}
	}
	return nil
}

// route returns where a connection goes that server from opens to an address: to its link, if
// that is the address of a peer.
//
// The servers know each other by their real addresses. A server tells its peers the address that
// it listens at for elections, and they dial it: were the links named in the configuration, the
// peers would bypass them, or else the server had to listen at the wildcard, which is not told.
func (l *Local) route(from *server, to netip.AddrPort) string {
	for _, peer := range l.servers {
		pair := l.peers[[2]int{from.ID, peer.ID}]
		switch {
		case len(pair) == 0 || !to.Addr().IsLoopback():
		case int(to.Port()) == peer.quorum:
			return pair[0].Addr()
		case int(to.Port()) == peer.election:
			return pair[1].Addr()
		}
	}
	return to.String()
}

// socksFlags makes the connections that the server opens go through its SOCKS server, those to
// loopback too.
func (s *server) socksFlags() []string {
	if s.socks == nil {
		return nil
	}
	return []string{"-DsocksProxyHost=127.0.0.1", fmt.Sprintf("-DsocksProxyPort=%d", s.socks.Port()), "-DsocksNonProxyHosts="}
}

// peerLines returns the lines of the configuration that name the servers.
func (l *Local) peerLines() []string {
	var lines []string
	for _, s := range l.servers {
		line := fmt.Sprintf("server.%d=127.0.0.1:%d:%d", l.config.myid(s.ID), s.quorum, s.election)
		if s.Observer {
			line += ":observer"
		}
		lines = append(lines, line)
	}
	return lines
}

// Peer returns the links, quorum and election, that carry the connections that server
// from opened to server to; none when LocalConfig.Peers was nil or an ID is unknown. The
// servers decide which of two opens a connection: cutting them apart takes Peer(a, b) and
// Peer(b, a).
func (l *Local) Peer(from, to int) []links.Link {
	return append([]links.Link(nil), l.peers[[2]int{from, to}]...)
}

// checkPeers fails when a server has dialled another around the links.
func (l *Local) checkPeers() error {
	var group errgroup.Group
	for _, s := range l.servers {
		group.Go(func() error {
			s.mu.Lock()
			defer s.mu.Unlock()
			dialled, err := dialledPorts(s.process.PID())
			if err != nil {
				return fmt.Errorf("look at the connections of server %d: %w", s.ID, err)
			}
			for _, other := range l.servers {
				direct := dialled[other.quorum] || dialled[other.election] || other.relay != nil && dialled[other.relay.Port()]
				if other != s && direct {
					return fmt.Errorf("server %d to server %d: %w", s.ID, other.ID, ErrDirectPeerLink)
				}
			}
			return nil
		})
	}
	return group.Wait()
}
