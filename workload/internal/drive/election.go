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

// electionDriver campaigns, and in some cycles observes the leaders, or asks the leader to resign. The
// leader campaigns again in some of its terms, which must be refused.
type electionDriver struct{ oneByOne }

// observing is the share of cycles that observe, asking the share of those that ask the leader to
// resign, and leadersSeen the largest number of leaders that an observation waits for.
const (
	observing   = 0.25
	asking      = 0.1
	leadersSeen = 8
)

func (d electionDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	does, elector := plan.More.Float64(), electorOf(c.Target())
	revoker, asks := elector.(lock.RevokerLocker)
	switch {
	case does < observing:
		return d.observe(ctx, c, name, plan)
	case does < observing+asking && asks:
		return ask(ctx, c, revoker, name)
	}
	return holdRefusing(ctx, c, elector, name, plan)
}

// seenLeader is a leader as an observer sees it.
type seenLeader struct {
	token histories.Token
	owner string // that it announces, see histories.NoOwner; empty if the target does not show it
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
	next, stop := iter.Pull(func(yield func(seenLeader) bool) { end = seen(bounded, c, name, plan, yield) })
	defer stop()
	for range leadersSeen {
		var leader seenLeader
		err := hold.OperateSeen(bounded, c, histories.Observe, histories.Event{Lock: name}, histories.Fail, func() error {
			var more bool
			if leader, more = next(); !more {
				return cmp.Or(end, errObservationEnded)
			}
			return nil
		}, func(e *histories.Event, _ error) { e.Token, e.Owner = leader.token, leader.owner })
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
func seen(ctx context.Context, c *client.Client, name string, plan cycle.Plan, yield func(seenLeader) bool) error {
	e := electorOf(c.Target())
	if asks, ok := e.(lock.LeaderElector); ok && plan.More.IntN(3) == 0 {
		for {
			leader, err := asks.Leader(ctx, name)
			if err != nil || !yield(seenLeader{token: leader}) {
				return err
			}
			wait.For(ctx, time.Duration(plan.More.Float64()*float64(min(plan.Patience, c.Run.SessionTimeout/8))))
		}
	}
	if shows, ok := e.(lock.AnnouncingElector); ok {
		return shows.ObserveAnnounced(ctx, name, func(leader histories.Token, owner string) bool {
			switch {
			case owner == lock.HiddenOwner:
				owner = ""
			case leader != (histories.Token{}):
				owner = cmp.Or(owner, histories.NoOwner)
			}
			return yield(seenLeader{leader, owner})
		})
	}
	return e.Observe(ctx, name, func(leader histories.Token) bool { return yield(seenLeader{token: leader}) })
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
