package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
)

// MultiLocker is implemented by clients that offer to acquire several mutexes
// in one operation, all or none, in whatever order they are named.
type MultiLocker interface {
	// Alone gets one of the mutexes by itself. If it is a [Reenterer], its
	// Reenter also takes a lease of several that has the lock among them.
	Alone() Locker
	// AcquireAll is Locker.Acquire of all. Places that are reported name
	// their lock.
	AcquireAll(ctx context.Context, locks []string) (MultiLease, error)
	// TryAcquireAll is Locker.TryAcquire of all.
	TryAcquireAll(ctx context.Context, locks []string) (MultiLease, error)
}

// MultiReenterer is implemented by MultiLockers whose leases know their owner.
type MultiReenterer interface {
	// ReenterAll acquires all of the locks again in the name of the owner of held.
	// If one of them was lost it returns ErrLost, and acquires none.
	ReenterAll(ctx context.Context, locks []string, held Lease) (MultiLease, error)
}

// MultiLease is several locks that are held. It is lost when one of them is.
type MultiLease interface {
	Lease // Token is not asked for
	// Tokens returns those of the locks, in the order in which they were named.
	Tokens() []histories.Token
}

var multiLockRecipe = RecipeInfo{
	Recipe:      histories.MultiLock,
	Description: "several mutexes acquired in one operation, all or none, in any order",
	offered:     func(c Client) bool { _, ok := c.(MultiLocker); return ok },
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.MultiLock), n+2), histories.Lock{Recipe: histories.MultiLock}
	},
	make: func(r *run) driver { return multiLockDriver{r} },
}

// multiLockDriver acquires two or three locks in an order drawn each time, so
// that opposite orders meet, and sometimes one alone. Some holders of several
// re-enter one of them.
type multiLockDriver struct{ run *run }

func (d multiLockDriver) cycle(ctx context.Context, c *client, lock string, plan cycle) error {
	target := c.client().(MultiLocker)
	asked := claimOf(target.Alone(), lock)
	if plan.more.Float64() < 0.75 {
		all := d.names()
		plan.more.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		asked = multiClaim(target, all[:2+plan.more.IntN(2)])
	}
	h, err := c.get(ctx, plan, asked)
	if h == nil {
		return err
	}
	levels := []Lease{h.lease}
	if r, ok := target.Alone().(Reenterer); ok {
		levels = h.climb(ctx, r, plan)
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

// recover gets every lock alone, and the first of them all at once.
func (d multiLockDriver) recover(ctx context.Context, c *client, lock string) bool {
	return d.gets(ctx, c, histories.Acquire, lock)
}

func (d multiLockDriver) try(ctx context.Context, c *client, lock string) bool {
	return d.gets(ctx, c, histories.TryAcquire, lock)
}

func (d multiLockDriver) gets(ctx context.Context, c *client, op histories.Op, lock string) bool {
	all := d.names()
	if lock == all[0] && !c.gets(ctx, op, func(target Client) claim { return multiClaim(target.(MultiLocker), all) }) {
		return false
	}
	return c.gets(ctx, op, func(target Client) claim { return claimOf(target.(MultiLocker).Alone(), lock) })
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

func multiClaim(target MultiLocker, locks []string) claim {
	out := claim{
		acquire: func(ctx context.Context) (Lease, error) { return asLease(target.AcquireAll(ctx, locks)) },
		try:     func(ctx context.Context) (Lease, error) { return asLease(target.TryAcquireAll(ctx, locks)) },
	}
	for _, lock := range locks {
		out.event.Parts = append(out.event.Parts, histories.Part{Lock: lock})
	}
	return out
}

func asLease(l MultiLease, err error) (Lease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}
