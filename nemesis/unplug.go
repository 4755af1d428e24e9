package nemesis

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble"
)

// unplugKind takes a server off its network, as a pulled cable does: its packets
// vanish, for peers and for clients. It goes on running, and finds out by its
// own timeouts.
func unplugKind() Kind {
	return Kind{
		Name: "unplug-server", Description: "a server is taken off its network, and put back", Needs: NeedsPlugs, Weight: 1, server: true,
		Span: timeouts(0.5, 2),
		Make: func(s Scene) (Fault, error) {
			id, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			plugs, ok := s.Ensemble().(ensemble.Pluggable)
			if !ok {
				return Fault{}, fmt.Errorf("fault unplug-server needs %s, which this ensemble (%s) does not give", NeedsPlugs, s.Ensemble().Kind())
			}
			f, err := s.onServers(Fault{Name: "unplug-server"}, []int{id}, func(ctx context.Context, p servers) error { return plugs.Unplug(ctx, id) })
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
