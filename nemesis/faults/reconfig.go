package faults

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// reconfigKind removes a server that votes from the ensemble while it serves, and makes it a
// member again later. The quorum changes twice under load. A leader that is removed hands the
// lead over to another server.
func reconfigKind() fault.Kind {
	return fault.Kind{
		Name: "reconfig", Description: "a server that votes is removed from the ensemble, and added again", Needs: fault.NeedsReconfig, Weight: 1, Server: true,
		Span: fault.Timeouts(1, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			id, err := s.Voter()
			if err != nil {
				return fault.Fault{}, err
			}
			members, ok := s.Ensemble().(ensemble.Reconfigurable)
			if !ok {
				return fault.Fault{}, fmt.Errorf("fault reconfig needs %s, which this ensemble (%s) does not give", fault.NeedsReconfig, s.Ensemble().Kind())
			}
			if voters := len(s.Voters()); voters < 3 {
				return fault.Fault{}, fmt.Errorf("fault reconfig leaves two servers that vote at least, and there are %d", voters)
			}
			f, err := s.OnServers(fault.Fault{Name: "reconfig"}, []int{id}, func(ctx context.Context, _ fault.Servers) error { return members.Remove(ctx, id) })
			if err != nil {
				return f, err
			}
			serve := f.Stop
			f.Stop = func(ctx context.Context) error {
				added := members.Add(ctx, id)
				// Even if it is not a member, its process must serve again.
				return errors.Join(added, serve(ctx))
			}
			return f, nil
		},
	}
}
