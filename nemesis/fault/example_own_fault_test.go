package fault_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// A user's own kind of fault is drawn, and named in schedules, like any other.
func ExampleKind() {
	kinds := append(faults.List(), flapping())
	if err := kinds.Check(); err != nil {
		fmt.Println(err)
		return
	}
	own, err := kinds.Named("flapping")
	fmt.Println(own.Description, err)
	// Output:
	// a client's links go down and up a few times, then stay down <nil>
}

// flapping is an example of a user's own kind of fault: a firewall that closes a client's
// connections again and again before it keeps them closed. A schedule may set times, the
// number of times that the links come back; the default is 3.
func flapping() fault.Kind {
	return fault.Kind{
		Name: "flapping", Description: "a client's links go down and up a few times, then stay down",
		Weight: 1,
		Span:   fault.Timeouts(0.5, 1.5),
		Params: []fault.Param{fault.Number("times", 1)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: "flapping"}.OnClients(c)
			times := s.SetNumber(&f, "times", 3)
			return f.OnLinks(c.AllLinks(), func(ctx context.Context, l links.Link) error {
				for range times {
					if err := errors.Join(l.Cut(ctx, links.Down), pause(ctx), l.Heal(ctx), pause(ctx)); err != nil {
						return err
					}
				}
				return l.Cut(ctx, links.Down)
			}), nil
		},
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}
