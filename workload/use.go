package workload

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// heartbeat is how often a long hold looks after its lease and its counters.
const heartbeat = 100 * time.Millisecond

// climb re-enters as deep as planned, by way of r, and returns the leases,
// outermost first.
func (h *hold) climb(ctx context.Context, r lock.Reenterer, plan cycle) []lock.Lease {
	h.again = r
	levels := []lock.Lease{h.lease}
	for len(levels) < plan.depth && !h.isLost() {
		lease := h.reenter(ctx, r, levels[len(levels)-1], len(levels)+1)
		if lease == nil {
			break
		}
		levels = append(levels, lease)
		h.askNow(levels)
	}
	return levels
}

// use increments by the innermost of the leases, and holds on.
func (h *hold) use(ctx context.Context, levels []lock.Lease, plan cycle) {
	top := levels[len(levels)-1]
	h.beginGuarded(plan)
	h.increment(ctx, top, plan.race)
	h.linger(ctx, levels, plan)
}

// linger holds the lock for the planned time, or until ctx ends. A client that
// is hit by a fault meanwhile may hold on: an application does not hurry because
// the network fails. It goes on incrementing, until it is told that the lease is
// lost.
func (h *hold) linger(ctx context.Context, levels []lock.Lease, plan cycle) {
	lease := levels[len(levels)-1]
	until := time.Now().Add(plan.hold)
	heldOn := false
	h.lingers.Store(plan.holdOn > 0)
	defer h.lingers.Store(false)
	for ctx.Err() == nil && !h.isLost() {
		left := time.Until(until)
		if !heldOn && plan.holdOn > 0 && h.c.strikeCount() != h.since {
			heldOn = true
			h.readGuarded(plan, 3*heartbeat) // whoever is robbed is to write all the same
			left = max(left, plan.holdOn, h.c.enduring())
			until = time.Now().Add(left)
		}
		if left <= 0 {
			return
		}
		h.waitOut(ctx, min(left, heartbeat), lease)
		if left > heartbeat || heldOn {
			h.askOne(levels)
			h.increment(ctx, lease, plan.race)
		}
	}
}

// finish ends the hold, the last of its process, as planned: by a crash of its
// client, or by giving back its leases, outermost first.
func (h *hold) finish(ctx context.Context, plan cycle, levels []lock.Lease) {
	if h.isLost() {
		h.askLost(levels[len(levels)-1])
	}
	unknown := h.endGuarded(levels, plan)
	if unknown || plan.crash && ctx.Err() == nil && !h.isLost() {
		e := h.event
		e.Type = histories.Crash
		h.end(e)
		h.c.abandon()
		return
	}
	h.reenterLost(levels, plan)
	h.releaseAll(levels, plan)
}

// reenterLost asks for the lock once more in the name of an owner that has just
// lost it: by the lease, which must be refused, since the lock may be another's by
// now; or anew, and then what it gets must be another hold. A careful holder gives
// back at once what it should not have got.
func (h *hold) reenterLost(levels []lock.Lease, plan cycle) {
	if h.again == nil || !h.isLost() || !h.c.awake() {
		return
	}
	asked, do := h.askedAgain(levels, plan)
	if do == nil {
		return
	}
	// A lock that goes to the end of the queue must not keep the client for ever.
	ctx, cancel := context.WithTimeout(h.c.run.life, 2*h.c.run.cfg.SessionTimeout)
	defer cancel()
	if second, err := h.c.acquire(ctx, histories.Acquire, asked, do); err == nil {
		second.increment(ctx, second.lease, 0)
		second.releaseAll([]lock.Lease{second.lease}, cycle{})
	}
}

// askedAgain says what reenterLost asks for, and how; do is nil if there is no way.
//
// Several locks are asked for by their lease, all together: one of them at least is
// lost, so they must be refused. Those that are not lost could be had again, one by
// one, or anew.
func (h *hold) askedAgain(levels []lock.Lease, plan cycle) (asked histories.Event, do func(context.Context) (lock.Lease, error)) {
	asked = histories.Event{Mode: h.event.Mode, Depth: len(levels) + 1}
	if len(h.event.Parts) > 1 {
		m, ok := h.c.client().(lock.MultiReenterer)
		if !ok {
			return asked, nil
		}
		all := make([]string, len(h.event.Parts))
		for i, p := range h.event.Parts {
			all[i] = p.Lock
			asked.Parts = append(asked.Parts, histories.Part{Lock: p.Lock})
		}
		return asked, func(ctx context.Context) (lock.Lease, error) { return asLease(m.ReenterAll(ctx, all, h.lease)) }
	}
	held := levels[len(levels)-1]
	if part, ok := held.(partLease); ok {
		held = part.Lease
	}
	asked.Lock = h.lock()
	if l, ok := h.again.(lock.Locker); ok && plan.more.IntN(2) == 0 {
		asked.Depth = 0
		return asked, func(ctx context.Context) (lock.Lease, error) { return l.Acquire(ctx, h.lock()) }
	}
	return asked, func(ctx context.Context) (lock.Lease, error) { return h.again.Reenter(ctx, h.lock(), held) }
}

// releaseAll gives back the leases of a hold, given outermost first, the
// innermost first. After an inner one the lock is still held, and used. Some
// holders do not wait for the outermost: their context has ended.
func (h *hold) releaseAll(levels []lock.Lease, plan cycle) {
	release, cancel := context.WithTimeout(h.c.run.life, 2*h.c.run.cfg.SessionTimeout)
	defer cancel()
	for depth := len(levels); depth >= 1; depth-- {
		if depth < len(levels) {
			// The lock is still held: the inner release must not have freed it.
			h.increment(release, levels[depth-1], plan.race)
			h.askNow(levels[:depth])
		}
		if depth == 1 && (plan.hasty || plan.hurried && h.isDown()) && h.c.holds() == 1 { // or its process would have to go on, not knowing
			cancel()
		}
		h.release(release, levels[depth-1], depth)
	}
}
