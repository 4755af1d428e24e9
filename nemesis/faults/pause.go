package faults

import (
	"context"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// pauseKind stops a server's process, as a long garbage collection or the suspension
// of its machine does: connections stay open, no request is answered, and when the
// process goes on it believes what it believed before. In one case of two the server
// is the leader, which then has to find out that it was deposed.
func pauseKind() fault.Kind {
	return fault.Kind{
		Name: "pause-server", Description: "a server's process is stopped (SIGSTOP), and goes on later", Needs: fault.NeedsProcesses, Weight: 1, Server: true,
		Span: fault.Timeouts(0.5, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			leader := s.Rand.IntN(2) == 0
			id, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			if leader && s.Pick.Server == "" {
				id = s.Leader
			}
			return s.OnServers(fault.Fault{Name: "pause-server"}, []int{id}, func(ctx context.Context, p fault.Servers) error { return p.Pause(ctx, id) })
		},
	}
}
