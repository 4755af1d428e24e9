package drive

import (
	"context"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var multiLockRecipe = recipe{
	Name:        histories.MultiLock,
	Description: "several mutexes acquired in one operation, all or none, in any order",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.MultiLock), n+2), histories.Lock{Recipe: histories.MultiLock}
	},
	mixes: true,
	make:  func(_ *client.Shared, _ cycle.Mix, g *Group) driver { return multiLockDriver{g.names, g.mixed} },
}

// multiLockDriver acquires two or three locks in an order drawn each time, so
// that opposite orders meet, and sometimes one alone, as a multi-lock of one or by
// itself. Some holders of several re-enter one of them. If there is a lock of recipe NonReentrant,
// half of these acquires have it as well, and some clients keep it from them.
type multiLockDriver struct {
	locks []string
	mixed string // "" if there is none
}

// The shares of acquires of several locks that have the mixed one as well, and of acquires of one lock that are of it.
const (
	mixedToo   = 0.5
	mixedAlone = 0.6
)

func (d multiLockDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	target := c.Target().(lock.MultiLocker)
	asked := hold.ClaimOf(target.Alone(), name)
	if plan.More.Float64() < 0.75 {
		all := slices.Clone(d.locks)
		plan.More.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		howMany := []int{1, 2, 2, 2, 2, 3, 3, 3} // each equally likely
		all = all[:howMany[plan.More.IntN(len(howMany))]]
		if d.mixed != "" && plan.More.Float64() < mixedToo {
			all = slices.Insert(all, 1+plan.More.IntN(len(all)), d.mixed) // it cannot be re-entered, as the first would be
		}
		asked = multiClaim(target, all)
	} else if d.mixed != "" && plan.More.Float64() < mixedAlone {
		return holdRefusing(ctx, c, lockerOf(c.Target(), histories.NonReentrant, ""), d.mixed, plan)
	}
	h, err := get(ctx, c, plan, asked)
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.Lease}
	if r, ok := target.Alone().(lock.Reenterer); ok {
		levels = h.Climb(ctx, r, plan)
	}
	h.Use(ctx, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}

// recover gets every lock alone, every other client as a multi-lock of one. With the first lock
// it also gets all locks at once.
func (d multiLockDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	return d.gets(ctx, c, histories.Acquire, name)
}

func (d multiLockDriver) try(ctx context.Context, c *client.Client, name string) bool {
	return d.gets(ctx, c, histories.TryAcquire, name)
}

func (d multiLockDriver) gets(ctx context.Context, c *client.Client, op histories.Op, name string) bool {
	all := d.locks
	if d.mixed != "" {
		all = append(slices.Clip(all), d.mixed)
	}
	if name == all[0] && !gets(ctx, c, op, func(target lock.Client) hold.Claim { return multiClaim(target.(lock.MultiLocker), all) }) {
		return false
	}
	return gets(ctx, c, op, func(target lock.Client) hold.Claim {
		if c.Index%2 == 1 {
			return multiClaim(target.(lock.MultiLocker), []string{name})
		}
		if name == d.mixed {
			return hold.ClaimOf(lockerOf(target, histories.NonReentrant, ""), name)
		}
		return hold.ClaimOf(target.(lock.MultiLocker).Alone(), name)
	})
}

func multiClaim(target lock.MultiLocker, locks []string) hold.Claim {
	out := hold.Claim{
		Acquire: func(ctx context.Context) (lock.Lease, error) { return lock.AsLease(target.AcquireAll(ctx, locks)) },
		Try:     func(ctx context.Context) (lock.Lease, error) { return lock.AsLease(target.TryAcquireAll(ctx, locks)) },
	}
	for _, name := range locks {
		out.Event.Parts = append(out.Event.Parts, histories.Part{Lock: name})
	}
	return out
}
