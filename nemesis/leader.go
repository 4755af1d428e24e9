package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// leaderKind cuts the leader off from its peers. It stops serving within
// about syncLimit ticks, the others elect another; meanwhile nobody serves.
// Clients linked to the old leader are the interesting ones: it may have
// granted what it could not commit.
func leaderKind() Kind {
	return Kind{
		Name: "isolate-leader", Description: "the leader is cut off from the other servers", Peers: true, Weight: 1,
		Span: timeouts(1, 2),
		Make: func(s Scene) (Fault, error) {
			if s.PeersBusy {
				return Fault{}, fmt.Errorf("%w: another fault cuts servers apart", ErrNobody)
			}
			return isolate(s.Ensemble(), Fault{Name: "isolate-leader", Targets: []string{serverName(s.Leader)}}, s.Leader)
		},
	}
}

// isolate completes f: it cuts server id off from all its peers, both ways, on
// quorum and election links.
func isolate(e ensemble.Ensemble, f Fault, id int) (Fault, error) {
	peers, ok := e.(ensemble.PeerLinks)
	if !ok {
		return Fault{}, fmt.Errorf("fault %s needs links between the servers, which this ensemble does not give", f.Name)
	}
	var ls []links.Link
	for _, other := range e.Servers() {
		if other.ID != id {
			ls = append(ls, peers.Peer(id, other.ID)...)
			ls = append(ls, peers.Peer(other.ID, id)...)
		}
	}
	f.Servers = []int{id}
	return f.onLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) }), nil
}

// leaderOf asks who leads. It has little time: a scene is stale soon.
func leaderOf(ctx context.Context, e ensemble.Ensemble) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	leader, err := e.Leader(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: no leader: %w", ErrNobody, err)
	}
	return leader, nil
}

func serverName(id int) string { return fmt.Sprintf("server %d", id) }
