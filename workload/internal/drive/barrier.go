package drive

import (
	"context"
	"sync/atomic"
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
	make: func(_ *client.Shared, _ cycle.Mix, g *Group) driver {
		d := barrierDriver{again: make(map[string]*upAgain)}
		for _, name := range g.names {
			d.again[name] = new(upAgain)
		}
		return d
	},
}

// setsAgain is how often a barrier is put up until it is once put up again as soon as it has been
// removed. A target without a TurnBound promises no time within which a wait returns: none is.
const setsAgain = 20

// upAgain is the record of one barrier that is put up again.
type upAgain struct {
	sets  atomic.Int64
	alone atomic.Bool // only the client that puts it up again removes it
}

// barrierDriver puts the barrier up and takes it away a little later, or, in most cycles, waits
// for a time. Some cycles only take it away, since the client that put it up may have crashed.
// They wait a little before that too: otherwise the barrier would hardly ever be up. Now and then
// it is up for so long that the other clients wait and have seen it, and then put up again at once,
// for as long: they must pass.
type barrierDriver struct{ again map[string]*upAgain }

func (d barrierDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	target := c.Target().(lock.BarrierClient)
	role, slow := plan.More.Float64(), plan.More.Float64() < 0.1
	var err error
	switch {
	case d.again[name].alone.Load():
		bounded, cancel := context.WithTimeout(ctx, 3*c.Run.Promises.TurnBound)
		defer cancel()
		err = d.wait(bounded, c, target, name)
	case role < 0.3:
		if err = d.set(ctx, c, target, name); err != nil {
			break
		}
		if of := d.again[name]; c.Run.Promises.TurnBound > 0 && of.sets.Add(1)%setsAgain == setsAgain/2 && of.alone.CompareAndSwap(false, true) {
			err = d.setAgain(ctx, c, target, name)
			of.alone.Store(false)
			break
		}
		wait.For(ctx, 10*plan.Hold)
		if plan.Crash && ctx.Err() == nil {
			c.Crash(histories.Event{Lock: name})
			return nil
		}
		err = d.removeUnless(ctx, c, target, name)
	case role < 0.4:
		wait.For(ctx, 10*plan.Hold)
		err = d.removeUnless(ctx, c, target, name)
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

// removeUnless removes the barrier, unless another client is about to put it up again.
func (d barrierDriver) removeUnless(ctx context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	if d.again[name].alone.Load() {
		return nil
	}
	return d.remove(ctx, c, target, name)
}

// setAgain removes a barrier that has been up for a while, and puts it up again at once, for as long.
func (d barrierDriver) setAgain(ctx context.Context, c *client.Client, target lock.BarrierClient, name string) error {
	up := c.Run.Promises.TurnBound * 5 / 4
	wait.For(ctx, up)
	err := d.remove(ctx, c, target, name)
	if err == nil {
		err = d.set(ctx, c, target, name)
	}
	if err != nil {
		return err
	}
	wait.For(ctx, up)
	return d.remove(ctx, c, target, name)
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
