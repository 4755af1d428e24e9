package nemesis

import "context"

// pauseKind stops a server's process, as a long collection of garbage or a
// machine that is suspended does: connections stay open, nothing is answered,
// and when it goes on it believes what it believed before. In one case of two it
// is the leader, which then has to find out that it was deposed.
func pauseKind() Kind {
	return Kind{
		Name: "pause-server", Description: "a server's process is stopped (SIGSTOP), and goes on later", Needs: NeedsProcesses, Weight: 1, server: true,
		Span: timeouts(0.5, 2),
		Make: func(s Scene) (Fault, error) {
			leader := s.Rand.IntN(2) == 0
			id, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			if leader && s.server == "" {
				id = s.Leader
			}
			return s.onServers(Fault{Name: "pause-server"}, []int{id}, func(ctx context.Context, p servers) error { return p.Pause(ctx, id) })
		},
	}
}
