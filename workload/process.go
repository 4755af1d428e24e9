package workload

import (
	"context"
	"errors"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// failureRest keeps a client whose acquires fail at once from filling the
// history with them.
const failureRest = 50 * time.Millisecond

// heartbeat is how often a long hold looks after its lease and its counters.
const heartbeat = 100 * time.Millisecond

// chaos is a client's life while faults come and go: one cycle after the other
// until ctx ends. What is under way then is finished: acquires are cancelled,
// holds released.
func (c *client) chaos(ctx context.Context) {
	r := c.run
	for ctx.Err() == nil {
		plan := r.cfg.Mix.draw(c.rand, len(r.locks), c.index, r.cfg.SessionTimeout)
		pause(ctx, plan.rest, nil)
		if !c.ensureOpen(ctx) {
			return
		}
		if err := c.cycle(ctx, plan); err != nil {
			pause(ctx, failureRest, nil)
		}
	}
}

// cycle acquires, holds and releases. The error is an acquire's that failed
// for no reason of its own making.
func (c *client) cycle(ctx context.Context, plan cycle) error {
	h, err := c.tryPlan(ctx, plan)
	if err != nil {
		if errors.Is(err, ErrNotAcquired) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	levels := c.climb(ctx, h, plan)
	top := levels[len(levels)-1]
	h.increment(ctx, top, plan.race)
	h.linger(ctx, top, plan)

	if plan.crash && ctx.Err() == nil && !h.isLost() {
		e := h.event
		e.Type = histories.Crash
		h.end(e)
		c.abandon()
		return nil
	}
	release, cancel := context.WithTimeout(c.run.life, 2*c.run.cfg.SessionTimeout)
	defer cancel()
	for depth := len(levels); depth >= 1; depth-- {
		if depth < len(levels) {
			// The lock is still held: the inner release must not have freed it.
			h.increment(ctx, levels[depth-1], plan.race)
		}
		h.release(release, levels[depth-1], depth)
	}
	return nil
}

// tryPlan acquires in the planned way.
func (c *client) tryPlan(ctx context.Context, plan cycle) (*hold, error) {
	target, lock := c.client(), c.run.locks[plan.lock]
	switch plan.way {
	case wayTry:
		// It does not wait for others, but it does wait for the servers.
		return c.acquire(ctx, histories.TryAcquire, lock, func(ctx context.Context) (Lease, error) {
			return target.TryAcquire(ctx, lock)
		})
	case wayTimeout:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.patience)
		defer cancel()
	case wayCancel:
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(plan.patience, cancel).Stop()
	}
	return c.acquire(ctx, histories.Acquire, lock, func(ctx context.Context) (Lease, error) {
		return target.Acquire(ctx, lock)
	})
}

// climb re-enters as deep as planned and returns the leases, outermost first.
func (c *client) climb(ctx context.Context, h *hold, plan cycle) []Lease {
	levels := []Lease{h.lease}
	r, ok := c.client().(Reenterer)
	if !ok || !c.run.promises.Reentrant {
		return levels
	}
	for len(levels) < plan.depth && !h.isLost() {
		lease := h.reenter(ctx, r, levels[len(levels)-1], len(levels)+1)
		if lease == nil {
			break
		}
		levels = append(levels, lease)
	}
	return levels
}

// linger holds the lock for the planned time. A client that is hit by a fault
// meanwhile may hold on: an application does not hurry because the network
// fails. It goes on incrementing, until it is told that the lease is lost.
func (h *hold) linger(ctx context.Context, lease Lease, plan cycle) {
	until := time.Now().Add(plan.hold)
	heldOn := false
	for ctx.Err() == nil && !h.isLost() {
		left := time.Until(until)
		if !heldOn && plan.holdOn > 0 && h.c.strikeCount() != h.since {
			heldOn = true
			left = max(left, plan.holdOn)
			until = time.Now().Add(left)
		}
		if left <= 0 {
			return
		}
		pause(ctx, min(left, heartbeat), h.lease.Lost())
		if left > heartbeat || heldOn {
			h.increment(ctx, lease, plan.race)
		}
	}
}

// recover gets every lock once, starting with another one than its neighbors,
// and returns those that it did not get before ctx ended.
func (c *client) recover(ctx context.Context) (missed []string) {
	locks := c.run.locks
	for i := range locks {
		lock := locks[(c.index+i)%len(locks)]
		if !c.recoverLock(ctx, lock, histories.Acquire) {
			missed = append(missed, lock)
		}
	}
	return missed
}

// tryAll tries every lock until it gets it once, or ctx ends.
func (c *client) tryAll(ctx context.Context) {
	for _, lock := range c.run.locks {
		c.recoverLock(ctx, lock, histories.TryAcquire)
	}
}

// recoverLock gets and releases one lock, by op.
func (c *client) recoverLock(ctx context.Context, lock string, op histories.Op) bool {
	for ctx.Err() == nil && c.ensureOpen(ctx) {
		target := c.client()
		do := target.Acquire
		if op == histories.TryAcquire {
			do = target.TryAcquire
		}
		h, err := c.acquire(ctx, op, lock, func(ctx context.Context) (Lease, error) { return do(ctx, lock) })
		if err != nil {
			pause(ctx, failureRest, nil)
			continue
		}
		h.increment(ctx, h.lease, 0)
		release, cancel := context.WithTimeout(c.run.life, 2*c.run.cfg.SessionTimeout)
		h.release(release, h.lease, 1)
		cancel()
		return true
	}
	return false
}

// pause returns after d, or when ctx or other ends.
func pause(ctx context.Context, d time.Duration, other <-chan struct{}) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-other:
	}
}
