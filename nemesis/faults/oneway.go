package faults

import (
	"fmt"

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
