package ensemble

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/internal/relay"
)

// openPeers makes a link for each ordered pair of servers and each of the two ports at
// which peers dial a server.
func (l *Local) openPeers(ctx context.Context) error {
	if l.config.Peers == nil {
		return nil
	}
	for _, to := range l.servers {
		var err error
		if to.relay, err = relay.Open(relay.UntilOpen(func() string { return loopback(to.quorum) })); err != nil {
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

// peerLines returns the lines of a server's configuration that name the servers. Its own
// line has its real ports. Behind links it has the wildcard: a server tells its own address
// to its peers, who would dial it and so bypass the links. With loopback there, cutting off
// the leader was measured to leave the ensemble without a leader for 53 s.
func (l *Local) peerLines(self *server) []string {
	var lines []string
	for _, to := range l.servers {
		quorum, election := fmt.Sprintf("127.0.0.1:%d", to.quorum), fmt.Sprint(to.election)
		switch pair := l.peers[[2]int{self.ID, to.ID}]; {
		case to == self && l.config.Peers != nil:
			quorum = fmt.Sprintf("0.0.0.0:%d", to.quorum)
		case len(pair) == 2:
			quorum = pair[0].Addr()
			_, election, _ = net.SplitHostPort(pair[1].Addr())
		}
		line := fmt.Sprintf("server.%d=%s:%s", l.config.myid(to.ID), quorum, election)
		if to.Observer {
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
