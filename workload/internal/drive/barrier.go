package drive

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var barrierRecipe = recipe{
	Name:        histories.Barrier,
	Description: "nobody passes while it is up",
	make:        func(*client.Shared, cycle.Mix, *Group) driver { return barrierDriver{make(chan string)} },
}

// barrierDriver puts the barrier up and takes it away a little later, or, in
// most cycles, waits for a time. Some only take it away, a little later too, or
// else it would hardly ever be up: the client that put it up may have crashed.
//
// Half of those who are about to wait for a time begin as soon as any barrier has been put
// up, at that one: a server that lags behind does not know of it then.
type barrierDriver struct{ raised chan string }

// followers is how many clients at most begin to wait at a barrier that was put up.
const followers = 8

// raise tells clients that are about to wait that a barrier has been put up.
func (d barrierDriver) raise(name string) {
	for range followers {
		select {
		case d.raised <- name:
		default:
			return
		}
	}
}

// follow rests for a time, or until a barrier has been put up, and returns at which one to
// wait.
func (d barrierDriver) follow(ctx context.Context, rest time.Duration, name string) string {
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case name = <-d.raised:
	}
	return name
}

func (d barrierDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	target := c.Target().(lock.BarrierClient)
	role, slow := plan.More.Float64(), plan.More.Float64() < 0.1
	var err error
	switch {
	case role < 0.3:
		if err = d.set(ctx, c, target, name); err != nil {
			break
		}
		wait.For(ctx, 10*plan.Hold)
		if plan.Crash && ctx.Err() == nil {
			c.Crash(histories.Event{Lock: name})
			return nil
		}
		err = d.remove(ctx, c, target, name)
	case role < 0.4:
		wait.For(ctx, 10*plan.Hold)
		err = d.remove(ctx, c, target, name)
	default:
		patience := plan.Patience
		if slow {
			patience += c.Run.SessionTimeout
		}
		// Or all that have just been let through would be back before another
		// client can put it up again.
		rest := time.Duration(10 * plan.More.Float64() * float64(plan.Hold))
		if follows := plan.More.Float64() < 0.5; follows && plan.Way != cycle.Wait {
			name = d.follow(ctx, rest, name)
		} else {
			wait.For(ctx, rest)
		}
		if plan.Way == cycle.Wait && c.Index%2 > 0 {
			// For ever, as the others do not, so that one is left to remove it.
			err = d.wait(c.Run.Patience, c, target, name)
			break
		}
		bounded, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err = d.wait(bounded, c, target, name)
	}
	if asPlanned(err) {
		return nil
	}
	return err
}

// recover puts the barrier up, takes it away, and passes it. Every client does
// so, and so the last one takes away what any has put up.
func (d barrierDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	for _, step := range []func(context.Context, *client.Client, lock.BarrierClient, string) error{d.set, d.remove, d.wait} {
		for {
			if ctx.Err() != nil || !c.EnsureOpen(ctx) {
				return false
			}
			if step(ctx, c, c.Target().(lock.BarrierClient), name) == nil {
				break
			}
			wait.For(ctx, failureRest)
		}
	}
	return true
}

func (d barrierDriver) set(ctx context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.Run.SessionTimeout)
	defer cancel()
	err := hold.Operate(c, histories.Set, histories.Event{Lock: name}, histories.Info, func() error {
		return target.SetBarrier(ctx, name)
	})
	if err == nil {
		d.raise(name)
	}
	return err
}

// remove is not cut short by the end of chaos: others wait.
func (barrierDriver) remove(ctx context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	ctx, cancel := context.WithTimeout(c.Run.Life, 2*c.Run.SessionTimeout)
	defer cancel()
	return hold.Operate(c, histories.Remove, histories.Event{Lock: name}, histories.Info, func() error {
		return target.RemoveBarrier(ctx, name)
	})
}

func (barrierDriver) wait(ctx context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	c.SetWaiting(true)
	defer c.SetWaiting(false)
	err := hold.Operate(c, histories.Wait, histories.Event{Lock: name}, histories.Fail, func() error {
		return target.WaitBarrier(ctx, name)
	})
	if err == nil {
		c.Journal.Cycles.Add(1)
	}
	return err
}
