package drive

import (
	"context"
	"errors"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

// failureRest is the rest of a client whose acquire has failed at once, so that such acquires
// do not fill the history.
const failureRest = 50 * time.Millisecond

// doom crashes the client after so long, in the middle of its activity; 0 is never. The crash
// does not come after the chaos phase.
func doom(c *client.Client, after time.Duration) *time.Timer {
	if after <= 0 || c.Run.Hosted() {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return t
	}
	return time.AfterFunc(after, c.Perish)
}

// get acquires in the planned way. It returns no hold and no error for an acquire that failed
// as planned: a try, or a wait that ended.
func get(ctx context.Context, c *client.Client, plan cycle.Plan, asked hold.Claim) (*hold.Hold, error) {
	op, do := histories.Acquire, asked.Acquire
	if plan.Way == cycle.Try {
		// A try does not wait for other clients, but it does wait for the servers.
		op, do = histories.TryAcquire, asked.Try
	}
	ctx, done := patiently(ctx, c, plan)
	defer done()
	h, err := hold.Acquire(ctx, c, op, asked.Event, do)
	if asPlanned(err) {
		err = nil
	}
	return h, err
}

// patiently returns the context of an acquire, which lasts as planned. The caller calls done when the
// acquire has returned.
func patiently(ctx context.Context, c *client.Client, plan cycle.Plan) (_ context.Context, done context.CancelFunc) {
	if plan.Way == cycle.Wait {
		ctx = c.Run.Patience
	}
	ctx, cancel := context.WithCancel(ctx)
	done = cancel
	switch plan.Way {
	case cycle.Timeout:
		bounded, release := context.WithTimeout(ctx, plan.Patience)
		ctx, done = bounded, func() { release(); cancel() }
	case cycle.Cancel:
		timer := time.AfterFunc(plan.Patience, cancel)
		done = func() { timer.Stop(); cancel() }
	}
	if plan.Late {
		cancel()
	}
	return ctx, done
}

// asPlanned reports whether an acquire or a wait failed by its client's choice.
func asPlanned(err error) bool {
	return errors.Is(err, lock.ErrNotAcquired) || errors.Is(err, lock.ErrNotHeld) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// lockerOf returns the locker of a recipe whose locks are acquired one by one, in a mode if the
// recipe has modes. All clients of a run offer its recipes.
func lockerOf(target lock.Client, r histories.Recipe, mode histories.Mode) lock.Locker {
	l, err := lock.LockerOf(target, r, mode)
	if err != nil {
		panic(err)
	}
	return l
}

// gets acquires, or tries to, until it has the lock or ctx ends; then it increments and
// releases. ask returns the claim to a lock for the present client of the target: the client
// may have to be opened again.
func gets(ctx context.Context, c *client.Client, op histories.Op, ask func(lock.Client) hold.Claim) bool {
	for ctx.Err() == nil && c.EnsureOpen(ctx) {
		asked := ask(c.Target())
		do := asked.Acquire
		if op == histories.TryAcquire {
			do = asked.Try
		}
		h, err := hold.Acquire(ctx, c, op, asked.Event, do)
		if err != nil {
			wait.For(ctx, failureRest)
			continue
		}
		h.Increment(ctx, h.Lease, 0)
		h.ReleaseAll([]lock.Lease{h.Lease}, cycle.Plan{})
		return true
	}
	return false
}

// oneByOne recovers and tries the locks of a recipe that are acquired one by one.
type oneByOne histories.Recipe

func (r oneByOne) recover(ctx context.Context, c *client.Client, name string) bool {
	return r.gets(ctx, c, histories.Acquire, name)
}

func (r oneByOne) try(ctx context.Context, c *client.Client, name string) bool {
	return r.gets(ctx, c, histories.TryAcquire, name)
}

func (r oneByOne) gets(ctx context.Context, c *client.Client, op histories.Op, name string) bool {
	return gets(ctx, c, op, func(target lock.Client) hold.Claim {
		return hold.ClaimOf(lockerOf(target, histories.Recipe(r), ""), name)
	})
}
