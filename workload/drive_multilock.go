package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

var multiLockRecipe = RecipeInfo{
	Recipe:      histories.MultiLock,
	Description: "several mutexes acquired in one operation, all or none, in any order",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.MultiLock), n+2), histories.Lock{Recipe: histories.MultiLock}
	},
	make: func(r *run) driver { return multiLockDriver{r} },
}

// multiLockDriver acquires two or three locks in an order drawn each time, so
// that opposite orders meet, and sometimes one alone. Some holders of several
// re-enter one of them.
type multiLockDriver struct{ run *run }

func (d multiLockDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	target := c.client().(lock.MultiLocker)
	asked := claimOf(target.Alone(), name)
	if plan.more.Float64() < 0.75 {
		all := d.names()
		plan.more.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		asked = multiClaim(target, all[:2+plan.more.IntN(2)])
	}
	h, err := c.get(ctx, plan, asked)
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.lease}
	if r, ok := target.Alone().(lock.Reenterer); ok {
		levels = h.climb(ctx, r, plan)
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

// recover gets every lock alone, and the first of them all at once.
func (d multiLockDriver) recover(ctx context.Context, c *client, name string) bool {
	return d.gets(ctx, c, histories.Acquire, name)
}

func (d multiLockDriver) try(ctx context.Context, c *client, name string) bool {
	return d.gets(ctx, c, histories.TryAcquire, name)
}

func (d multiLockDriver) gets(ctx context.Context, c *client, op histories.Op, name string) bool {
	all := d.names()
	if name == all[0] && !c.gets(ctx, op, func(target lock.Client) claim { return multiClaim(target.(lock.MultiLocker), all) }) {
		return false
	}
	return c.gets(ctx, op, func(target lock.Client) claim { return claimOf(target.(lock.MultiLocker).Alone(), name) })
}

// names returns a copy of the recipe's locks.
func (d multiLockDriver) names() []string {
	for _, g := range d.run.groups {
		if g.Recipe == histories.MultiLock {
			return append([]string(nil), g.names...)
		}
	}
	return nil
}

func multiClaim(target lock.MultiLocker, locks []string) claim {
	out := claim{
		acquire: func(ctx context.Context) (lock.Lease, error) { return asLease(target.AcquireAll(ctx, locks)) },
		try:     func(ctx context.Context) (lock.Lease, error) { return asLease(target.TryAcquireAll(ctx, locks)) },
	}
	for _, name := range locks {
		out.event.Parts = append(out.event.Parts, histories.Part{Lock: name})
	}
	return out
}

func asLease(l lock.MultiLease, err error) (lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}
