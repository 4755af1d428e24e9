package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// leaderKind cuts the leader off from its peers. It stops serving within
// about syncLimit ticks, the others elect another; meanwhile nobody serves.
// Clients linked to the old leader are the interesting ones: it may have
// granted what it could not commit.
func leaderKind() Kind {
	return Kind{
		Name: "isolate-leader", Description: "the leader is cut off from the other servers", Needs: NeedsPeers, Weight: 1, early: 2,
		Span: timeouts(1, 2),
		Make: func(s Scene) (Fault, error) {
			if err := s.serversFree(); err != nil {
				return Fault{}, err
			}
			return isolate(s, Fault{Name: "isolate-leader"}, s.Leader)
		},
	}
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
