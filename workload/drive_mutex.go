package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

var mutexRecipe = RecipeInfo{
	Recipe:      histories.Mutex,
	Description: "one holder, who may acquire again; guards two counters",
	// Their short name is older than the other recipes.
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered("lock", n), histories.Lock{Recipe: histories.Mutex}
	},
	spares: 3,
	make:   func(r *run) driver { return mutexDriver{r, r.promises.Reentrant} },
}

// mutexDriver drives a mutex: acquire in one of four ways, increment what the
// lock guards, hold on, perhaps re-enter, release or crash. One cycle in ten goes to
// a lock that nobody else uses meanwhile.
type mutexDriver struct {
	run       *run
	reentrant bool
}

func (d mutexDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	if plan.more.Float64() < relayed {
		return c.relay(ctx, d.run.spare(histories.Mutex), plan, func(name string) claim { return claimOf(c.client(), name) })
	}
	h, err := c.get(ctx, plan, claimOf(c.client(), name))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.lease}
	if r, ok := c.client().(lock.Reenterer); ok && d.reentrant {
		levels = h.climb(ctx, r, plan)
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

func (mutexDriver) recover(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.Acquire, func(target lock.Client) claim { return claimOf(target, name) })
}

func (mutexDriver) try(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.TryAcquire, func(target lock.Client) claim { return claimOf(target, name) })
}
