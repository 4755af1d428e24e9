package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
)

// SharedSemaphoreLocker is implemented by clients that offer semaphores whose
// size is changed while they are in use. Env.Locks says how it is at first.
type SharedSemaphoreLocker interface{ SharedSemaphore() SizedLocker }

// SizedLocker gets permits of one semaphore, and says how many it has.
type SizedLocker interface {
	PermitLocker
	// SetSize changes the size for everybody. Permits that are held are kept,
	// though they be more. An error leaves open whether it was changed.
	SetSize(ctx context.Context, lock string, size int) error
}

var sharedSemaphoreRecipe = RecipeInfo{
	Recipe:      histories.SharedSemaphore,
	Description: "a number of permits that is changed while they are in use",
	offered:     func(c Client) bool { _, ok := c.(SharedSemaphoreLocker); return ok },
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.SharedSemaphore), n), histories.Lock{Recipe: histories.SharedSemaphore, Size: permits}
	},
	make: func(*run) driver {
		return sharedSemaphoreDriver{semaphoreDriver{func(c Client) PermitLocker { return c.(SharedSemaphoreLocker).SharedSemaphore() }}}
	},
}

// sharedSemaphoreDriver is a semaphoreDriver that changes the size now and
// then, to between two permits, which is the most that is asked for, and five.
type sharedSemaphoreDriver struct{ semaphoreDriver }

func (d sharedSemaphoreDriver) cycle(ctx context.Context, c *client, lock string, plan cycle) error {
	resize, size, n := plan.more.Float64() < 0.15, 2+plan.more.IntN(4), 1+plan.more.IntN(5)/4
	if !resize {
		return d.use(ctx, c, lock, plan, n)
	}
	err := d.setSize(ctx, c, lock, size)
	if asPlanned(err) {
		return nil // the run is over, or the servers were away for long
	}
	return err
}

// try tries, and puts the size back to what it was. That fires the watches that
// waits have left on it: ZooKeeper's Go client cannot take a watch back, and on a
// node that stays for good there can be one for each session. What is left after
// that is a leak.
func (d sharedSemaphoreDriver) try(ctx context.Context, c *client, lock string) bool {
	ok := d.semaphoreDriver.try(ctx, c, lock)
	for ctx.Err() == nil && c.ensureOpen(ctx) {
		if d.setSize(ctx, c, lock, permits) == nil {
			return ok
		}
		pause(ctx, failureRest, nil)
	}
	return false
}

func (d sharedSemaphoreDriver) setSize(ctx context.Context, c *client, lock string, size int) error {
	locker := c.client().(SharedSemaphoreLocker).SharedSemaphore()
	ctx, cancel := context.WithTimeout(ctx, 2*c.run.cfg.SessionTimeout)
	defer cancel()
	return c.operate(histories.SetSize, histories.Event{Lock: lock, Size: size}, histories.Info, func() error {
		return locker.SetSize(ctx, lock, size)
	})
}
