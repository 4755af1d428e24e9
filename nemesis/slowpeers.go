package nemesis

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

// slowPeersKind slows all links between the servers down, by 20 to 100 ms each
// way: a write takes two such trips, and followers lag behind what others have
// been told already.
func slowPeersKind() Kind {
	return Kind{
		Name: "slow-peers", Description: "the links between all servers are slow, with jitter", Needs: NeedsPeers, Weight: 1,
		Span:   timeouts(1, 2),
		params: latencyParams(),
		Make: func(s Scene) (Fault, error) {
			if err := s.serversFree(); err != nil {
				return Fault{}, err
			}
			f := Fault{Name: "slow-peers"}
			latency, jitter := s.setLatency(&f, 20*time.Millisecond, min(100*time.Millisecond, s.SessionTimeout()/16))
			ls, err := s.allPeerLinks(&f)
			if err != nil {
				return Fault{}, err
			}
			return f.onLinks(ls, func(ctx context.Context, l links.Link) error { return l.Delay(ctx, latency, jitter) }), nil
		},
	}
}

// allPeerLinks returns the links between all servers, which f hits.
func (s Scene) allPeerLinks(f *Fault) ([]links.Link, error) {
	var ls []links.Link
	servers := s.Ensemble().Servers()
	for i, a := range servers {
		f.Servers = append(f.Servers, a.ID)
		f.Targets = append(f.Targets, serverName(a.ID))
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
