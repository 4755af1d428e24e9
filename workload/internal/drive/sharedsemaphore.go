package drive

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var sharedSemaphoreRecipe = recipe{
	Name:        histories.SharedSemaphore,
	Description: "a number of permits that is changed while they are in use",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.SharedSemaphore), n), histories.Lock{Recipe: histories.SharedSemaphore, Size: permits}
	},
	make: func(_ *client.Shared, _ cycle.Mix, g *Group) driver { return newSharedSemaphoreDriver(g.names) },
}

// sharedSemaphoreDriver is a semaphoreDriver that changes the size now and then, to between two
// permits, the most that an acquire asks for, and five.
type sharedSemaphoreDriver struct {
	semaphoreDriver
	narrowed map[string]*atomic.Bool // by lock: see recover
	flutters map[string]*atomic.Bool // by lock: a client changes its size again and again now
}

func newSharedSemaphoreDriver(locks []string) sharedSemaphoreDriver {
	d := sharedSemaphoreDriver{
		semaphoreDriver{locker: func(c lock.Client) lock.PermitLocker { return c.(lock.SharedSemaphoreLocker).SharedSemaphore() }},
		make(map[string]*atomic.Bool), make(map[string]*atomic.Bool),
	}
	for _, name := range locks {
		d.narrowed[name], d.flutters[name] = new(atomic.Bool), new(atomic.Bool)
	}
	return d
}

func (d sharedSemaphoreDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	resize, size, n := plan.More.Float64() < 0.15, 2+plan.More.IntN(4), 1+plan.More.IntN(5)/3
	if !resize {
		return d.use(ctx, c, name, bounded(plan, n, c.Run.SessionTimeout), n)
	}
	err := d.setSize(ctx, c, name, size)
	if err == nil && plan.More.IntN(2) == 0 {
		err = d.flutter(ctx, c, name, plan)
	}
	if asPlanned(err) {
		return nil // the run is over, or the servers were away for long
	}
	return err
}

// bounded returns the plan of a client that asks for n permits. A client that has made the size
// one, and crashed, leaves those that ask for two waiting; if all the others did, no client
// would be left to change the size.
func bounded(plan cycle.Plan, n int, sessionTimeout time.Duration) cycle.Plan {
	if n > 1 && plan.Way == cycle.Wait {
		plan.Way, plan.Patience = cycle.Timeout, sessionTimeout
	}
	return plan
}

// flutter changes the size again and again, as fast as it can be changed, so that changes also
// fall between two of the steps by which others acquire permits. Every other size has no room
// for a client that asks for two, even if no permit is held. One client does so at a time: of
// two, the history could not tell which change was whose.
func (d sharedSemaphoreDriver) flutter(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	if !d.flutters[name].CompareAndSwap(false, true) {
		return nil
	}
	defer d.flutters[name].Store(false)
	for i := range 2 * flutters {
		if err := d.setSize(ctx, c, name, 1+4*(i%2)); err != nil {
			return err
		}
		wait.For(ctx, time.Duration(plan.More.Float64()*float64(time.Millisecond)))
		if ctx.Err() != nil {
			break
		}
	}
	return d.setSize(c.Run.Life, c, name, 2)
}

// flutters is the number of changes by flutter.
const flutters = 15

// looks is the number of writes within which a client that is woken has looked again.
const looks = 3

// recover acquires all permits. The first client to come makes the size one for a while: then
// the others wait only for the size, nothing but its raise can wake them, and it must
// (CURATOR-75). The first raise is not enough for them; the second one often comes while the first
// in the queue looks again because of the first. The while is so short that a client that is not
// woken looks again too late, see lock.Settings.TurnBound.
func (d sharedSemaphoreDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	if d.narrowed[name].CompareAndSwap(false, true) {
		took := c.Write()
		d.ensureSize(ctx, c, name, 1)
		wait.For(ctx, c.Run.SessionTimeout/8)
		d.ensureSize(ctx, c, name, permits-1)
		wait.For(ctx, time.Duration(c.More.Float64()*looks*float64(took)))
		d.ensureSize(ctx, c, name, permits)
	}
	return gets(ctx, c, histories.Acquire, func(target lock.Client) hold.Claim { return permitClaim(d.locker(target), name, permits) })
}

// settle sets the size back to its first value. That fires the watches that waits have left on
// it: ZooKeeper's Go client cannot remove a watch, and on a node that stays for good there can
// be one for each session. A watch that is left after that is a leak.
func (d sharedSemaphoreDriver) settle(ctx context.Context, c *client.Client, name string) {
	d.ensureSize(ctx, c, name, permits)
}

// ensureSize changes the size, repeatedly until it is known to have changed.
func (d sharedSemaphoreDriver) ensureSize(ctx context.Context, c *client.Client, name string, size int) bool {
	for ctx.Err() == nil && c.EnsureOpen(ctx) {
		if d.setSize(ctx, c, name, size) == nil {
			return true
		}
		wait.For(ctx, failureRest)
	}
	return false
}

func (d sharedSemaphoreDriver) setSize(ctx context.Context, c *client.Client, name string, size int) error {
	locker := c.Target().(lock.SharedSemaphoreLocker).SharedSemaphore()
	ctx, returned := c.Cancellable(ctx)
	defer returned()
	ctx, cancel := context.WithTimeout(ctx, 2*c.Run.SessionTimeout)
	defer cancel()
	resized := resizes(c, locker, name, size)
	return hold.OperateMarked(ctx, c, histories.SetSize, histories.Event{Lock: name, Size: size}, histories.Info, func() error {
		return locker.SetSize(ctx, name, size)
	}, resized)
}
