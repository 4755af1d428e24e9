package drive

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var mutexRecipe = recipe{
	Name:        histories.Mutex,
	Description: "one holder, who may acquire again; guards two counters",
	// Their short name is older than the other recipes.
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered("lock", n), histories.Lock{Recipe: histories.Mutex}
	},
	spares: 3,
	make: func(r *client.Shared, _ cycle.Mix, g *Group) driver {
		return mutexDriver{g.spare, r.Promises.Reentrant}
	},
}

// mutexDriver drives a mutex: acquire in one of four ways, increment the counters that the lock
// guards, hold on, perhaps re-enter, release or crash. One cycle in ten goes to a lock that no
// other client uses meanwhile.
type mutexDriver struct {
	spare     *spare
	reentrant bool
}

func (d mutexDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	if plan.More.Float64() < relayed {
		return relay(ctx, c, d.spare, plan, func(name string) hold.Claim { return hold.ClaimOf(c.Target(), name) })
	}
	h, err := get(ctx, c, plan, hold.ClaimOf(c.Target(), name))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.Lease}
	if r, ok := c.Target().(lock.Reenterer); ok && d.reentrant {
		levels = h.Climb(ctx, r, plan)
	}
	h.Use(ctx, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}

func (mutexDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	return gets(ctx, c, histories.Acquire, func(target lock.Client) hold.Claim { return hold.ClaimOf(target, name) })
}

func (mutexDriver) try(ctx context.Context, c *client.Client, name string) bool {
	return gets(ctx, c, histories.TryAcquire, func(target lock.Client) hold.Claim { return hold.ClaimOf(target, name) })
}
