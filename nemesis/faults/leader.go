package faults

import (
	"github.com/zkverify/zkverify/nemesis/fault"
)

// leaderKind cuts the leader off from its peers. It stops serving within about
// syncLimit ticks, and the others elect a new leader; in between no server serves.
// The clients of the old leader are the interesting ones: it may have granted
// locks that it could not commit.
func leaderKind() fault.Kind {
	return fault.Kind{
		Name: "isolate-leader", Description: "the leader is cut off from the other servers", Needs: fault.NeedsPeers, Weight: 1, Early: 2,
		Span: fault.Timeouts(1, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			if err := s.ServersFree(); err != nil {
				return fault.Fault{}, err
			}
			return isolate(s, fault.Fault{Name: "isolate-leader"}, s.Leader)
		},
	}
}
