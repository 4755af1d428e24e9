package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// company is how much longer what several may hold is held: or else they would
// hardly ever.
const company = 10

// permits is how many a semaphore of a run has, at first if it is shared.
const permits = 3

var semaphoreRecipe = RecipeInfo{
	Recipe:      histories.Semaphore,
	Description: "a fixed number of permits, acquired one or more at a time",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.Semaphore), n), histories.Lock{Recipe: histories.Semaphore, Size: permits}
	},
	spares: 1,
	make: func(r *run) driver {
		return semaphoreDriver{func(c lock.Client) lock.PermitLocker { return c.(lock.SemaphoreLocker).Semaphore() }, r.spare(histories.Semaphore)}
	},
}

// semaphoreDriver acquires one permit, or any number of those that there are, and
// holds them long enough for others to get theirs beside them.
type semaphoreDriver struct {
	of    func(lock.Client) lock.PermitLocker
	spare *spare
}

func (d semaphoreDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	if plan.more.Float64() < relayed {
		return c.relay(ctx, d.spare, plan, func(name string) claim { return permitClaim(d.of(c.client()), name, permits) })
	}
	n := 1
	if plan.more.Float64() < 0.4 {
		n = 1 + plan.more.IntN(permits)
	}
	return d.use(ctx, c, name, plan, n)
}

func (d semaphoreDriver) use(ctx context.Context, c *client, name string, plan cycle, n int) error {
	h, err := c.get(ctx, plan, permitClaim(d.of(c.client()), name, n))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.lease}
	plan.hold *= company
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

func (d semaphoreDriver) recover(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.Acquire, func(target lock.Client) claim { return permitClaim(d.of(target), name, 1) })
}

func (d semaphoreDriver) try(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.TryAcquire, func(target lock.Client) claim { return permitClaim(d.of(target), name, 1) })
}

func permitClaim(l lock.PermitLocker, name string, n int) claim {
	return claim{
		event:   histories.Event{Lock: name, Permits: n},
		acquire: func(ctx context.Context) (lock.Lease, error) { return l.AcquireN(ctx, name, n) },
		try:     func(ctx context.Context) (lock.Lease, error) { return l.TryAcquireN(ctx, name, n) },
	}
}
