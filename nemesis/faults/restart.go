package faults

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// restartKind kills a server's process and starts it again at once. The fault is
// over when the server serves again.
func restartKind() fault.Kind {
	return fault.Kind{
		Name: "restart-server", Description: "a server's process is killed and started again at once", Needs: fault.NeedsProcesses, Weight: 1, Server: true,
		Span: fault.Instant,
		Make: func(s fault.Scene) (fault.Fault, error) {
			id, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			return s.OnServers(fault.Fault{Name: "restart-server"}, []int{id}, func(ctx context.Context, p fault.Servers) error { return p.Restart(ctx, id) })
		},
	}
}

// rollingKind restarts all servers, one after the other, each as soon as the one
// before serves, as an upgrade of an ensemble does.
func rollingKind() fault.Kind {
	return fault.Kind{
		Name: "rolling-restart", Description: "all servers are restarted, one after the other", Needs: fault.NeedsProcesses, Weight: 1, Server: true,
		Span: fault.Instant,
		Make: func(s fault.Scene) (fault.Fault, error) {
			first, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			ids := append([]int{first}, s.Others(first)...)
			f, err := s.OnServers(fault.Fault{Name: "rolling-restart"}, ids, func(ctx context.Context, p fault.Servers) error {
				for _, id := range ids {
					if err := p.Restart(ctx, id); err != nil {
						return err
					}
				}
				return nil
			})
			f.HealWithin *= time.Duration(len(ids)) // one after the other
			return f, err
		},
	}
}
