package faults

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// slowPeersKind slows all links between the servers down, by 20 to 100 ms each
// way: a write takes two such trips, and followers lag behind answers that other
// servers have given already.
func slowPeersKind() fault.Kind {
	return fault.Kind{
		Name: "slow-peers", Description: "the links between all servers are slow, with jitter", Needs: fault.NeedsPeers, Weight: 1,
		Span:   fault.Timeouts(1, 2),
		Params: latencyParams(), Together: checkLatency,
		Make: func(s fault.Scene) (fault.Fault, error) {
			if err := s.ServersFree(); err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: "slow-peers"}
			latency, jitter := setLatency(s, &f, 20*time.Millisecond, min(100*time.Millisecond, s.SessionTimeout()/16))
			ls, err := allPeerLinks(s, &f)
			if err != nil {
				return fault.Fault{}, err
			}
			return f.OnLinks(ls, func(ctx context.Context, l links.Link) error { return l.Delay(ctx, latency, jitter) }), nil
		},
	}
}

// allPeerLinks returns the links between all servers, which f hits.
func allPeerLinks(s fault.Scene, f *fault.Fault) ([]links.Link, error) {
	var ls []links.Link
	servers := s.Ensemble().Servers()
	for i, a := range servers {
		f.Servers = append(f.Servers, a.ID)
		f.Targets = append(f.Targets, fault.ServerName(a.ID))
		for _, b := range servers[i+1:] {
			between, err := peerLinks(s.Ensemble(), a.ID, b.ID)
			if err != nil {
				return nil, err
			}
			ls = append(ls, between...)
		}
	}
	return ls, nil
}
