package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
)

// NonReentrantLocker is implemented by clients that offer a lock whose owner
// cannot acquire it again. If the locker is a [Reenterer] that is put to the
// test: Reenter must fail, and neither wait nor harm the lease.
type NonReentrantLocker interface{ NonReentrant() Locker }

var nonReentrantRecipe = RecipeInfo{
	Recipe:      histories.NonReentrant,
	Description: "one holder, whose second acquire is refused",
	offered:     func(c Client) bool { _, ok := c.(NonReentrantLocker); return ok },
	spares:      1,
	make:        func(r *run) driver { return nonReentrantDriver{r.spare(histories.NonReentrant)} },
}

type nonReentrantDriver struct{ spare *spare }

func (d nonReentrantDriver) cycle(ctx context.Context, c *client, lock string, plan cycle) error {
	locker := c.client().(NonReentrantLocker).NonReentrant()
	if plan.more.Float64() < relayed {
		return c.relay(ctx, d.spare, plan, func(lock string) claim { return claimOf(locker, lock) })
	}
	h, err := c.get(ctx, plan, claimOf(locker, lock))
	if h == nil {
		return err
	}
	levels := []Lease{h.lease}
	h.again, _ = locker.(Reenterer)
	if r, ok := locker.(Reenterer); ok && plan.depth > 1 {
		// A lock that waits for itself must not keep the client.
		bounded, cancel := context.WithTimeout(ctx, plan.patience)
		levels = h.climb(bounded, r, plan)
		cancel()
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

func (nonReentrantDriver) recover(ctx context.Context, c *client, lock string) bool {
	return c.gets(ctx, histories.Acquire, nonReentrantClaim(lock))
}

func (nonReentrantDriver) try(ctx context.Context, c *client, lock string) bool {
	return c.gets(ctx, histories.TryAcquire, nonReentrantClaim(lock))
}

func nonReentrantClaim(lock string) func(Client) claim {
	return func(target Client) claim { return claimOf(target.(NonReentrantLocker).NonReentrant(), lock) }
}
