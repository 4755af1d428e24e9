package faults

import (
	"fmt"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// oneWayKind loses the messages of one server to another, and delivers those in the
// other direction. One of the two is the leader: followers exchange few messages.
// If the follower's messages are lost, the leader gives the follower up while the
// follower still hears the leader. If the leader's messages are lost, the leader
// still hears the pings of a follower that does not hear it.
func oneWayKind() fault.Kind {
	return fault.Kind{
		Name: "one-way", Description: "messages from the leader to a follower, or from the follower to the leader, are lost", Needs: fault.NeedsPeers, Weight: 1, Server: true,
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
			said, err := voiceOf(s.Ensemble(), from, to)
			if err != nil {
				return fault.Fault{}, err
			}
			f = f.OnLinks(said.links(), nil)
			f.Start = said.lose
			return f, nil
		},
	}
}
