package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

var nonReentrantRecipe = RecipeInfo{
	Recipe:      histories.NonReentrant,
	Description: "one holder, whose second acquire is refused",
	spares:      1,
	make:        func(r *run) driver { return nonReentrantDriver{r.spare(histories.NonReentrant)} },
}

type nonReentrantDriver struct{ spare *spare }

func (d nonReentrantDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	locker := c.client().(lock.NonReentrantLocker).NonReentrant()
	if plan.more.Float64() < relayed {
		return c.relay(ctx, d.spare, plan, func(name string) claim { return claimOf(locker, name) })
	}
	h, err := c.get(ctx, plan, claimOf(locker, name))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.lease}
	h.again, _ = locker.(lock.Reenterer)
	if r, ok := locker.(lock.Reenterer); ok && plan.depth > 1 {
		// A lock that waits for itself must not keep the client.
		bounded, cancel := context.WithTimeout(ctx, plan.patience)
		levels = h.climb(bounded, r, plan)
		cancel()
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

func (nonReentrantDriver) recover(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.Acquire, nonReentrantClaim(name))
}

func (nonReentrantDriver) try(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.TryAcquire, nonReentrantClaim(name))
}

func nonReentrantClaim(name string) func(lock.Client) claim {
	return func(target lock.Client) claim { return claimOf(target.(lock.NonReentrantLocker).NonReentrant(), name) }
}
