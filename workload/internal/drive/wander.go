package drive

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// visits is the number of times that a client comes to a double barrier in a cycle.
const visits = 6

// wander passes a double barrier without an appointment, again and again, and gives up at any moment
// on its way in or out. So members join a round as others leave it, some clear what others have left
// behind, and a round begins as the one before ends: members that meet first hardly do so. Only the
// servers' log shows which rounds there were, and who belonged to them.
func (d *doubleBarrierDriver) wander(ctx context.Context, c *client.Client, plan cycle.Plan) error {
	name := d.names[int(time.Since(d.since)/c.Run.SessionTimeout)%len(d.names)] // clients meet there
	defer doom(c, plan.Doom).Stop()
	target, e := c.Target(), histories.Event{Lock: name}
	up := func(to time.Duration) time.Duration { return time.Duration(plan.More.Float64() * float64(to)) }
	for range visits {
		barrier, ok := c.Target().(lock.DoubleBarrierClient)
		if !ok || c.Target() != target || ctx.Err() != nil {
			return nil
		}
		in := []time.Duration{memberSteps, plan.Patience, c.Run.SessionTimeout}[plan.More.IntN(3)]
		entering, entered := lasting(ctx, c, up(in))
		member, _, err := enter(entering, entered, c, barrier, e, new(round), 0)
		switch {
		case err != nil && !asPlanned(err):
			return err
		case err != nil:
			continue
		}
		wait.For(ctx, up(memberSteps/2))
		if plan.Crash && c.Run.Life.Err() == nil {
			c.Crash(e)
			return nil
		}
		out := []time.Duration{memberSteps, c.Run.SessionTimeout}[plan.More.IntN(2)]
		leaving, left := lasting(ctx, c, up(out))
		err = goOut(leaving, c, member, e)
		left()
		if err != nil && !asPlanned(err) {
			return err
		}
		if err == nil {
			c.Journal.Cycles.Add(1)
		}
	}
	return nil
}
