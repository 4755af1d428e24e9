package faults

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// unplugKind takes a server off its network, as a pulled cable does: its packets
// to and from peers and clients vanish. The server goes on running, and notices the
// loss by its own timeouts.
func unplugKind() fault.Kind {
	return fault.Kind{
		Name: "unplug-server", Description: "a server is taken off its network, and put back", Needs: fault.NeedsPlugs, Weight: 1, Server: true,
		Span: fault.Timeouts(0.5, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			id, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			plugs, ok := s.Ensemble().(ensemble.Pluggable)
			if !ok {
				return fault.Fault{}, fmt.Errorf("fault unplug-server needs %s, which this ensemble (%s) does not give", fault.NeedsPlugs, s.Ensemble().Kind())
			}
			f, err := s.OnServers(fault.Fault{Name: "unplug-server"}, []int{id}, func(ctx context.Context, p fault.Servers) error { return plugs.Unplug(ctx, id) })
			back := f.Stop
			f.Stop = func(ctx context.Context) error {
				if err := plugs.Plug(ctx, id); err != nil {
					return err
				}
				return back(ctx)
			}
			return f, err
		},
	}
}
