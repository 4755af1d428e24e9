package drive

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var nonReentrantRecipe = recipe{
	Name:        histories.NonReentrant,
	Description: "one holder, whose second acquire is refused",
	spares:      1,
	make: func(_ *client.Shared, _ cycle.Mix, g *Group) driver {
		return nonReentrantDriver{oneByOne(histories.NonReentrant), g.spare}
	},
}

type nonReentrantDriver struct {
	oneByOne
	spare *spare
}

func (d nonReentrantDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	locker := lockerOf(c.Target(), histories.NonReentrant, "")
	if plan.More.Float64() < relayed {
		return relay(ctx, c, d.spare, plan, func(name string) hold.Claim { return hold.ClaimOf(locker, name) })
	}
	return holdRefusing(ctx, c, locker, name, plan)
}

// holdRefusing acquires a lock that refuses its owner, and in some cycles asks for it again. A leader
// that may be asked to resign listens; most obey, and a few lead until they are asked.
func holdRefusing(ctx context.Context, c *client.Client, locker lock.Locker, name string, plan cycle.Plan) error {
	h, err := get(ctx, c, plan, hold.ClaimOf(locker, name))
	if h == nil {
		return err
	}
	if _, asks := locker.(lock.RevokerLocker); asks {
		generous := plan.More.Float64()
		waits := generous < 0.02
		switch {
		case waits:
			plan.Hold = c.Run.Promises.RevokeBound + c.Run.SessionTimeout/4
		case generous < 0.15:
			plan.Hold *= company
		}
		var told context.CancelFunc
		obeyed := 0
		switch {
		case generous < 0.01: // of those that wait
			obeyed = 2
		case generous < 0.8:
			obeyed = 1
		}
		ctx, told = listen(ctx, h, obeyed)
		defer told()
	}
	levels := []lock.Lease{h.Lease}
	h.Again, _ = locker.(lock.Reenterer)
	if r, ok := locker.(lock.Reenterer); ok && plan.Depth > 1 {
		// A lock that waits for itself must not keep the client.
		bounded, cancel := context.WithTimeout(ctx, plan.Patience)
		levels = h.Climb(bounded, r, plan)
		cancel()
	}
	h.Use(ctx, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}
