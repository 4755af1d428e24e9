package workload

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

var barrierRecipe = RecipeInfo{
	Recipe:      histories.Barrier,
	Description: "nobody passes while it is up",
	make:        func(*run) driver { return barrierDriver{} },
}

// barrierDriver puts the barrier up and takes it away a little later, or, in
// most cycles, waits for a time. Some only take it away, a little later too, or
// else it would hardly ever be up: whoever put it up may have crashed.
type barrierDriver struct{}

func (d barrierDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	target := c.client().(lock.BarrierClient)
	role, slow := plan.more.Float64(), plan.more.Float64() < 0.1
	var err error
	switch {
	case role < 0.3:
		if err = d.set(ctx, c, target, name); err != nil {
			break
		}
		pause(ctx, 10*plan.hold, nil)
		if plan.crash && ctx.Err() == nil {
			c.crash(histories.Event{Lock: name})
			return nil
		}
		err = d.remove(ctx, c, target, name)
	case role < 0.4:
		pause(ctx, 10*plan.hold, nil)
		err = d.remove(ctx, c, target, name)
	default:
		patience := plan.patience
		if slow {
			patience += c.run.cfg.SessionTimeout
		}
		// Or all that have just been let through would be back before anybody
		// can put it up again.
		pause(ctx, time.Duration(10*plan.more.Float64()*float64(plan.hold)), nil)
		if plan.way == wayWait && c.index%2 > 0 {
			// For ever, as the others do not, so that one is left to remove it.
			err = d.wait(c.run.patience, c, target, name)
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

// recover puts the barrier up, takes it away, and passes it. Everybody does so,
// and takes away last what anybody has put up.
func (d barrierDriver) recover(ctx context.Context, c *client, name string) bool {
	for _, step := range []func(context.Context, *client, lock.BarrierClient, string) error{d.set, d.remove, d.wait} {
		for {
			if ctx.Err() != nil || !c.ensureOpen(ctx) {
				return false
			}
			if step(ctx, c, c.client().(lock.BarrierClient), name) == nil {
				break
			}
			pause(ctx, failureRest, nil)
		}
	}
	return true
}

func (barrierDriver) set(ctx context.Context, c *client, target lock.BarrierClient, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.run.cfg.SessionTimeout)
	defer cancel()
	return c.operate(histories.Set, histories.Event{Lock: name}, histories.Info, func() error {
		return target.SetBarrier(ctx, name)
	})
}

// remove is not cut short by the end of chaos: others wait.
func (barrierDriver) remove(ctx context.Context, c *client, target lock.BarrierClient, name string) error {
	ctx, cancel := context.WithTimeout(c.run.life, 2*c.run.cfg.SessionTimeout)
	defer cancel()
	return c.operate(histories.Remove, histories.Event{Lock: name}, histories.Info, func() error {
		return target.RemoveBarrier(ctx, name)
	})
}

func (barrierDriver) wait(ctx context.Context, c *client, target lock.BarrierClient, name string) error {
	c.setWaiting(true)
	defer c.setWaiting(false)
	err := c.operate(histories.Wait, histories.Event{Lock: name}, histories.Fail, func() error {
		return target.WaitBarrier(ctx, name)
	})
	if err == nil {
		c.run.journal.cycles.Add(1)
	}
	return err
}
