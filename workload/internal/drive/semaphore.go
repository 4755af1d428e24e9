package drive

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

// company is the factor by which locks that several clients may hold are held longer: otherwise
// several would hardly ever hold one.
const company = 10

// inCompany returns the time to hold such a lock instead of a planned one. Holds that were planned for
// less than a session timeout are not longer than that.
func inCompany(planned, sessionTimeout time.Duration) time.Duration {
	return max(planned, min(planned*company, sessionTimeout))
}

// permits is the number of permits of a semaphore, at first if its size changes.
const permits = 3

var semaphoreRecipe = recipe{
	Name:        histories.Semaphore,
	Description: "a fixed number of permits, acquired one or more at a time",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.Semaphore), n), histories.Lock{Recipe: histories.Semaphore, Size: permits}
	},
	spares: 1,
	make: func(_ *client.Shared, _ cycle.Mix, g *Group) driver {
		return semaphoreDriver{func(c lock.Client) lock.PermitLocker { return c.(lock.SemaphoreLocker).Semaphore() }, g.spare}
	},
}

// semaphoreDriver acquires one permit, or any number up to the size, and holds them long enough
// for other clients to get theirs at the same time.
type semaphoreDriver struct {
	locker func(lock.Client) lock.PermitLocker
	spare  *spare
}

func (d semaphoreDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	if plan.More.Float64() < relayed {
		return relay(ctx, c, d.spare, plan, func(name string) hold.Claim { return permitClaim(d.locker(c.Target()), name, permits) })
	}
	n := 1
	if plan.More.Float64() < 0.4 {
		n = 1 + plan.More.IntN(permits)
	}
	return d.use(ctx, c, name, plan, n)
}

func (d semaphoreDriver) use(ctx context.Context, c *client.Client, name string, plan cycle.Plan, n int) error {
	h, err := get(ctx, c, plan, permitClaim(d.locker(c.Target()), name, n))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.Lease}
	plan.Hold = inCompany(plan.Hold, c.Run.SessionTimeout)
	h.Use(ctx, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}

func (d semaphoreDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	return gets(ctx, c, histories.Acquire, func(target lock.Client) hold.Claim { return permitClaim(d.locker(target), name, 1) })
}

func (d semaphoreDriver) try(ctx context.Context, c *client.Client, name string) bool {
	return gets(ctx, c, histories.TryAcquire, func(target lock.Client) hold.Claim { return permitClaim(d.locker(target), name, 1) })
}

func permitClaim(l lock.PermitLocker, name string, n int) hold.Claim {
	return hold.Claim{
		Event:   histories.Event{Lock: name, Permits: n},
		Acquire: func(ctx context.Context) (lock.Lease, error) { return l.AcquireN(ctx, name, n) },
		Try:     func(ctx context.Context) (lock.Lease, error) { return l.TryAcquireN(ctx, name, n) },
	}
}
