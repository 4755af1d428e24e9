package faults

import (
	"context"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// bridgeKind cuts the servers into two halves that do not reach each other, with
// one follower in between that reaches all of them: of three servers, the leader
// and the other follower lose each other. The other follower cannot follow, and calls
// for an election; the follower in the middle receives its votes.
func bridgeKind() fault.Kind {
	return fault.Kind{
		Name: "bridge", Description: "two halves of the servers are cut apart, one follower reaches both", Needs: fault.NeedsPeers, Weight: 1, Server: true,
		Span: fault.Timeouts(1, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			bridge, err := s.Follower()
			if err != nil {
				return fault.Fault{}, err
			}
			// The leader is on one side, at least one follower on the other. Observers
			// come after the servers that vote.
			halves := [2][]int{{s.Leader}}
			for i, id := range s.Others(bridge, s.Leader) {
				halves[(i+1)%2] = append(halves[(i+1)%2], id)
			}
			f := fault.Fault{Name: "bridge", Servers: append(halves[0], halves[1]...), Params: map[string]string{"bridge": fault.ServerName(bridge)}}
			for _, id := range f.Servers {
				f.Targets = append(f.Targets, fault.ServerName(id))
			}
			var ls []links.Link
			for _, a := range halves[0] {
				for _, b := range halves[1] {
					between, err := peerLinks(s.Ensemble(), a, b)
					if err != nil {
						return fault.Fault{}, err
					}
					ls = append(ls, between...)
				}
			}
			return f.OnLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) }), nil
		},
	}
}
