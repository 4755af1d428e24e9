package faults

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// oneWayKind loses what one server says to another, and delivers the answers.
// One of the two is the leader: followers have little to say to each other. A
// follower that is not heard is given up by a leader that it goes on hearing, and
// a leader that is not heard by a follower goes on hearing its pings.
func oneWayKind() fault.Kind {
	return fault.Kind{
		Name: "one-way", Description: "what the leader says to a follower, or the follower to the leader, is lost", Needs: fault.NeedsPeers, Weight: 1, Server: true,
		Span:   fault.Timeouts(1, 2),
		Params: []fault.Param{fault.Choice("lost", "from-leader", "to-leader")},
		Make: func(s fault.Scene) (fault.Fault, error) {
			follower, err := s.Follower()
			if err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: "one-way", Servers: []int{follower}, Params: map[string]string{"follower": fault.ServerName(follower)}}
			from, to := s.Leader, follower
			if s.Set(&f, "lost", []string{"from-leader", "to-leader"}[s.Rand.IntN(2)]) == "to-leader" {
				from, to = to, from
			}
			f.Targets = []string{fmt.Sprintf("%s -> %s", fault.ServerName(from), fault.ServerName(to))}
			peers, ok := s.Ensemble().(ensemble.PeerLinks)
			if !ok {
				return fault.Fault{}, fmt.Errorf("this ensemble (%s) has no links between its servers", s.Ensemble().Kind())
			}
			// Either may have opened the connection on which it is said.
			opened, accepted := peers.Peer(from, to), peers.Peer(to, from)
			return f.OnLinks(append(opened, accepted...), func(ctx context.Context, l links.Link) error {
				if slices.Contains(opened, l) {
					return l.Cut(ctx, links.RequestsLost)
				}
				return l.Cut(ctx, links.RepliesLost)
			}), nil
		},
	}
}
