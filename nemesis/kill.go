package nemesis

import "context"

// killKind kills a server's process, as kill -9 does, and starts it again on the
// same data. Its clients move to others and keep their sessions.
func killKind() Kind {
	return Kind{
		Name: "kill-server", Description: "a server's process is killed, and started again", Needs: NeedsProcesses, Weight: 1, server: true,
		Span: timeouts(0.5, 1.5),
		Make: func(s Scene) (Fault, error) {
			id, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			return s.killed("kill-server", id)
		},
	}
}

// killLeaderKind kills whichever server leads. What it had proposed and nobody
// has acknowledged is gone, or comes back with the next leader.
func killLeaderKind() Kind {
	return Kind{
		Name: "kill-leader", Description: "the leader's process is killed, and started again", Needs: NeedsProcesses, Weight: 1,
		Span: timeouts(0.5, 1.5),
		Make: func(s Scene) (Fault, error) {
			if err := s.serversFree(); err != nil {
				return Fault{}, err
			}
			return s.killed("kill-leader", s.Leader)
		},
	}
}

// quorumKind kills a majority of the servers at once and starts them again at the
// same time. In between nobody serves and no session ends: afterwards each has
// its whole timeout again.
func quorumKind() Kind {
	return Kind{
		Name: "lose-quorum", Description: "a majority of the servers is killed at once, and started again", Needs: NeedsProcesses, Weight: 1, server: true,
		Span: timeouts(0.5, 1.5),
		Make: func(s Scene) (Fault, error) {
			first, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			all := append([]int{first}, s.others(first)...)
			return s.killed("lose-quorum", all[:len(all)/2+1]...)
		},
	}
}

// killed makes a fault that kills servers.
func (s Scene) killed(name string, ids ...int) (Fault, error) {
	return s.onServers(Fault{Name: name}, ids, func(ctx context.Context, p servers) error {
		return p.each(ids, func(id int) error { return p.Kill(ctx, id) })
	})
}
