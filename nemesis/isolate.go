package nemesis

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// isolateKind cuts one server off from its peers, whichever it is. It keeps its
// clients, and answers them until it finds out.
func isolateKind() Kind {
	return Kind{
		Name: "isolate-server", Description: "one server is cut off from the other servers", Needs: NeedsPeers, Weight: 1, server: true,
		Span: timeouts(1, 2),
		Make: func(s Scene) (Fault, error) {
			id, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			return isolate(s, Fault{Name: "isolate-server"}, id)
		},
	}
}

// isolate completes f: it cuts a server off from all its peers, both ways, on
// quorum and election links.
func isolate(s Scene, f Fault, id int) (Fault, error) {
	f.Targets = append([]string{serverName(id)}, f.Targets...)
	f.Servers = []int{id}
	s.setRole(&f, id)
	var ls []links.Link
	for _, other := range s.others(id) {
		between, err := peerLinks(s.Ensemble(), id, other)
		if err != nil {
			return Fault{}, err
		}
		ls = append(ls, between...)
	}
	return f.onLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) }), nil
}

// peerLinks returns all links between two servers.
func peerLinks(e ensemble.Ensemble, a, b int) ([]links.Link, error) {
	peers, ok := e.(ensemble.PeerLinks)
	if !ok {
		return nil, fmt.Errorf("this ensemble (%s) has no links between its servers", e.Kind())
	}
	return append(peers.Peer(a, b), peers.Peer(b, a)...), nil
}
