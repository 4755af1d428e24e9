package faults

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// isolateKind cuts one server off from its peers, leader or not. The server keeps its
// clients, and answers them until it notices the cut.
func isolateKind() fault.Kind {
	return fault.Kind{
		Name: "isolate-server", Description: "one server is cut off from the other servers", Needs: fault.NeedsPeers, Weight: 1, Server: true,
		Span: fault.Timeouts(1, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			id, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			return isolate(s, fault.Fault{Name: "isolate-server"}, id)
		},
	}
}

// isolate completes f: it cuts a server off from all its peers, both ways, on
// quorum and election links.
func isolate(s fault.Scene, f fault.Fault, id int) (fault.Fault, error) {
	f.Targets = append([]string{fault.ServerName(id)}, f.Targets...)
	f.Servers = []int{id}
	s.SetRole(&f, id)
	var ls []links.Link
	for _, other := range s.Others(id) {
		between, err := peerLinks(s.Ensemble(), id, other)
		if err != nil {
			return fault.Fault{}, err
		}
		ls = append(ls, between...)
	}
	return f.OnLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) }), nil
}

// peerLinks returns all links between two servers.
func peerLinks(e ensemble.Ensemble, a, b int) ([]links.Link, error) {
	peers, ok := e.(ensemble.PeerLinks)
	if !ok {
		return nil, fmt.Errorf("this ensemble (%s) has no links between its servers", e.Kind())
	}
	return append(peers.Peer(a, b), peers.Peer(b, a)...), nil
}
