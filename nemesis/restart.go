package nemesis

import "context"

// restartKind kills a server's process and starts it again at once. The fault is
// over when the server serves again.
func restartKind() Kind {
	return Kind{
		Name: "restart-server", Description: "a server's process is killed and started again at once", Needs: NeedsProcesses, Weight: 1, server: true,
		Span: instant,
		Make: func(s Scene) (Fault, error) {
			id, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			return s.onServers(Fault{Name: "restart-server"}, []int{id}, func(ctx context.Context, p servers) error { return p.Restart(ctx, id) })
		},
	}
}

// rollingKind restarts all servers, one after the other, the next as soon as the
// one before serves: what an upgrade does to an ensemble.
func rollingKind() Kind {
	return Kind{
		Name: "rolling-restart", Description: "all servers are restarted, one after the other", Needs: NeedsProcesses, Weight: 1, server: true,
		Span: instant,
		Make: func(s Scene) (Fault, error) {
			first, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			ids := append([]int{first}, s.others(first)...)
			f, err := s.onServers(Fault{Name: "rolling-restart"}, ids, func(ctx context.Context, p servers) error {
				for _, id := range ids {
					if err := p.Restart(ctx, id); err != nil {
						return err
					}
				}
				return nil
			})
			f.HealWithin *= 3 // one after the other
			return f, err
		},
	}
}
