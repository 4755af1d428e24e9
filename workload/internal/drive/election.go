package drive

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var electionRecipe = recipe{
	Name:        histories.Election,
	Description: "one leader at a time, and observers that are told who leads",
	make:        func(*client.Shared, cycle.Mix, *Group) driver { return electionDriver{oneByOne(histories.Election)} },
}

// electionDriver campaigns, and in some cycles observes the leaders. The leader campaigns again
// in some of its terms, which must be refused.
type electionDriver struct{ oneByOne }

// observing is the share of cycles that observe, and leadersSeen the largest number of leaders
// that they wait for.
const (
	observing   = 0.25
	leadersSeen = 8
)

func (d electionDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	if plan.More.Float64() < observing {
		return d.observe(ctx, c, name, plan)
	}
	return holdRefusing(ctx, c, electorOf(c.Target()), name, plan)
}

// observe records each wait for another leader as an operation of its own.
func (electionDriver) observe(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	patience := plan.Patience
	if plan.Way == cycle.Wait {
		patience += c.Run.SessionTimeout // through faults
	}
	ctx, stopped := c.Cancellable(ctx)
	defer stopped()
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var end error
	next, stop := iter.Pull(func(yield func(histories.Token) bool) { end = seen(bounded, c, name, plan, yield) })
	defer stop()
	for range leadersSeen {
		var token histories.Token
		err := hold.OperateMarked(bounded, c, histories.Observe, histories.Event{Lock: name}, histories.Fail, func() error {
			var more bool
			if token, more = next(); !more {
				return cmp.Or(end, errObservationEnded)
			}
			return nil
		}, func(error) histories.Token { return token })
		if asPlanned(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seen calls yield with the leaders that a client sees: as they change, or, of a client that can ask
// who leads, in some cycles at times of its own.
func seen(ctx context.Context, c *client.Client, name string, plan cycle.Plan, yield func(histories.Token) bool) error {
	e := electorOf(c.Target())
	if asks, ok := e.(lock.LeaderElector); ok && plan.More.IntN(3) == 0 {
		for {
			leader, err := asks.Leader(ctx, name)
			if err != nil || !yield(leader) {
				return err
			}
			wait.For(ctx, time.Duration(plan.More.Float64()*float64(min(plan.Patience, c.Run.SessionTimeout/8))))
		}
	}
	return e.Observe(ctx, name, yield)
}

var errObservationEnded = errors.New("the observation ended by itself")

// electorOf returns the elector of a client. All clients of a run offer its recipes.
func electorOf(target lock.Client) lock.Elector {
	e, err := lock.ElectorOf(target)
	if err != nil {
		panic(err)
	}
	return e
}
