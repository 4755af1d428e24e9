package faults

import (
	"context"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// killKind kills a server's process, as kill -9 does, and starts it again on the
// same data. Its clients move to other servers and keep their sessions.
func killKind() fault.Kind {
	return fault.Kind{
		Name: "kill-server", Description: "a server's process is killed, and started again", Needs: fault.NeedsProcesses, Weight: 1, Server: true,
		Span: fault.Timeouts(0.5, 1.5),
		Make: func(s fault.Scene) (fault.Fault, error) {
			id, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			return killed(s, "kill-server", id)
		},
	}
}

// killLeaderKind kills the leader. Its proposals that no follower has acknowledged are
// gone, or come back with the next leader.
func killLeaderKind() fault.Kind {
	return fault.Kind{
		Name: "kill-leader", Description: "the leader's process is killed, and started again", Needs: fault.NeedsProcesses, Weight: 1,
		Span: fault.Timeouts(0.5, 1.5),
		Make: func(s fault.Scene) (fault.Fault, error) {
			if err := s.ServersFree(); err != nil {
				return fault.Fault{}, err
			}
			return killed(s, "kill-leader", s.Leader)
		},
	}
}

// quorumKind kills a majority of the servers that vote at once and starts them again at the
// same time. In between no server serves and no session ends: afterwards each session
// has its whole timeout again.
func quorumKind() fault.Kind {
	return fault.Kind{
		Name: "lose-quorum", Description: "a majority of the servers is killed at once, and started again", Needs: fault.NeedsProcesses, Weight: 1, Server: true,
		Span: fault.Timeouts(0.5, 1.5),
		Make: func(s fault.Scene) (fault.Fault, error) {
			first, err := s.Voter()
			if err != nil {
				return fault.Fault{}, err
			}
			all := append([]int{first}, s.Voters(first)...)
			return killed(s, "lose-quorum", all[:len(all)/2+1]...)
		},
	}
}

// killed makes a fault that kills servers.
func killed(s fault.Scene, name string, ids ...int) (fault.Fault, error) {
	return s.OnServers(fault.Fault{Name: name}, ids, func(ctx context.Context, p fault.Servers) error {
		return p.Each(ids, func(id int) error { return p.Kill(ctx, id) })
	})
}
