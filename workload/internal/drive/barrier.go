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
	Description: "no client passes while it is up",
	make:        func(*client.Shared, cycle.Mix, *Group) driver { return barrierDriver{} },
}

// barrierDriver puts the barrier up and takes it away a little later, or, in most cycles, waits
// for a time. Some cycles only take it away, since the client that put it up may have crashed.
// They wait a little before that too: otherwise the barrier would hardly ever be up.
type barrierDriver struct{}

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
		// Otherwise all clients that have just been let through would be back before another
		// client can put it up again.
		wait.For(ctx, time.Duration(10*plan.More.Float64()*float64(plan.Hold)))
		if plan.Way == cycle.Wait && c.Index%2 > 0 {
			// Without a timeout. The others have one, so that one client is left to remove it.
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

// recover puts the barrier up, takes it away, and passes it. Every client does so, and so the
// last one takes away any barrier that was put up.
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

func (barrierDriver) set(ctx context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	ctx, returned := c.Cancellable(ctx)
	defer returned()
	ctx, cancel := context.WithTimeout(ctx, 2*c.Run.SessionTimeout)
	defer cancel()
	return hold.Operate(ctx, c, histories.Set, histories.Event{Lock: name}, histories.Info, func() error {
		return target.SetBarrier(ctx, name)
	})
}

// remove is not cut short by the end of chaos: others wait.
func (barrierDriver) remove(_ context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	ctx, returned := c.Cancellable(c.Run.Life)
	defer returned()
	ctx, cancel := context.WithTimeout(ctx, 2*c.Run.SessionTimeout)
	defer cancel()
	return hold.Operate(ctx, c, histories.Remove, histories.Event{Lock: name}, histories.Info, func() error {
		return target.RemoveBarrier(ctx, name)
	})
}

func (barrierDriver) wait(ctx context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	ctx, returned := c.Cancellable(ctx)
	defer returned()
	err := hold.Operate(ctx, c, histories.Wait, histories.Event{Lock: name}, histories.Fail, func() error {
		return target.WaitBarrier(ctx, name)
	})
	if err == nil {
		c.Journal.Cycles.Add(1)
	}
	return err
}
