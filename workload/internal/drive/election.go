package drive

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/zkverify/zkverify/histories"
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
	next, stop := iter.Pull(func(yield func(histories.Token) bool) {
		end = electorOf(c.Target()).Observe(bounded, name, yield)
	})
	defer stop()
	for range leadersSeen {
		err := hold.OperateMarked(c, histories.Observe, histories.Event{Lock: name}, histories.Fail, func() (histories.Token, error) {
			token, more := next()
			if !more {
				return token, cmp.Or(end, errObservationEnded)
			}
			return token, nil
		})
		if asPlanned(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
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
