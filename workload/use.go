package workload

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// heartbeat is how often a long hold looks after its lease and its counters.
const heartbeat = 100 * time.Millisecond

// climb re-enters as deep as planned, by way of r, and returns the leases,
// outermost first.
func (h *hold) climb(ctx context.Context, r Reenterer, plan cycle) []Lease {
	levels := []Lease{h.lease}
	for len(levels) < plan.depth && !h.isLost() {
		lease := h.reenter(ctx, r, levels[len(levels)-1], len(levels)+1)
		if lease == nil {
			break
		}
		levels = append(levels, lease)
	}
	return levels
}

// use increments by the innermost of the leases, and holds on.
func (h *hold) use(ctx context.Context, levels []Lease, plan cycle) {
	top := levels[len(levels)-1]
	h.beginGuarded(plan)
	h.increment(ctx, top, plan.race)
	h.linger(ctx, top, plan)
}

// linger holds the lock for the planned time, or until ctx ends. A client that
// is hit by a fault meanwhile may hold on: an application does not hurry because
// the network fails. It goes on incrementing, until it is told that the lease is
// lost.
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

// finish ends the hold, the last of its process, as planned: by a crash of its
// client, or by giving back its leases, outermost first.
func (h *hold) finish(ctx context.Context, plan cycle, levels []Lease) {
	unknown := h.endGuarded(levels)
	if unknown || plan.crash && ctx.Err() == nil && !h.isLost() {
		e := h.event
		e.Type = histories.Crash
		h.end(e)
		h.c.abandon()
		return
	}
	h.releaseAll(levels, plan.race)
}

// releaseAll gives back the leases of a hold, given outermost first, the
// innermost first. After an inner one the lock is still held, and used.
func (h *hold) releaseAll(levels []Lease, race time.Duration) {
	release, cancel := context.WithTimeout(h.c.run.life, 2*h.c.run.cfg.SessionTimeout)
	defer cancel()
	for depth := len(levels); depth >= 1; depth-- {
		if depth < len(levels) {
			// The lock is still held: the inner release must not have freed it.
			h.increment(release, levels[depth-1], race)
		}
		h.release(release, levels[depth-1], depth)
	}
}
