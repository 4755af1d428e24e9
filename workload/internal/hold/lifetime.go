package hold

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/lock"
)

// heartbeat is the interval at which a long hold looks at its lease and its counters.
const heartbeat = 100 * time.Millisecond

// asksAtOnce is the share of holds whose owner asks for the lock again while it is being released.
const asksAtOnce = 0.08

// Climb re-enters to the planned depth, through r, and returns the leases, outermost first.
func (h *Hold) Climb(ctx context.Context, r lock.Reenterer, plan cycle.Plan) []lock.Lease {
	h.Again = r
	levels := h.Levels()
	for len(levels) < plan.Depth && !h.IsLost() {
		lease := h.reenter(ctx, r, levels[len(levels)-1], len(levels)+1)
		if lease == nil {
			break
		}
		levels = append(levels, lease)
		h.answers().askNow(levels)
	}
	return levels
}

// Use increments the counters under the innermost of the leases, and holds on.
func (h *Hold) Use(ctx context.Context, levels []lock.Lease, plan cycle.Plan) {
	top := levels[len(levels)-1]
	h.zooKeeperCounter().beginGuarded(plan)
	h.Increment(ctx, top, plan.Race)
	h.Linger(ctx, levels, plan)
}

// Linger holds the lock for the planned time, or until ctx ends. A client that is hit by a
// fault meanwhile may hold on: an application does not hurry because the network fails. It goes
// on incrementing until the lease is reported lost.
func (h *Hold) Linger(ctx context.Context, levels []lock.Lease, plan cycle.Plan) {
	lease := levels[len(levels)-1]
	until := time.Now().Add(plan.Hold)
	heldOn := false
	h.Lingers.Store(plan.HoldOn > 0)
	defer h.Lingers.Store(false)
	for ctx.Err() == nil && !h.IsLost() {
		left := time.Until(until)
		if !heldOn && plan.HoldOn > 0 && h.Client.StrikeCount() != h.since {
			heldOn = true
			h.zooKeeperCounter().readGuarded(plan, 3*heartbeat) // a holder that loses the lock must still write
			left = max(left, plan.HoldOn, h.Client.Enduring())
			early := h.shares() && !h.Crossed || h.seen != nil && h.zooKeeperCounter().inCompany()
			if early && plan.More.IntN(2) == 0 { // it writes, perhaps before it is notified of a loss
				h.writes, left = true, time.Duration(plan.More.Float64()*float64(3*heartbeat))
			}
			until = time.Now().Add(left)
		}
		if left <= 0 {
			// A client that has been kept in this moment holds on.
			if h.Lingers.Store(false); heldOn || plan.HoldOn <= 0 || h.Client.StrikeCount() == h.since {
				return
			}
			h.Lingers.Store(true)
			continue
		}
		h.answers().waitOut(ctx, min(left, heartbeat), lease)
		if left > heartbeat || heldOn {
			h.answers().askOne(levels)
			h.Client.AskNowAndThen()
			h.Increment(ctx, lease, plan.Race)
		}
	}
}

// Finish ends the hold, the last of its process, as planned: by a crash of its
// client, or by giving back its leases, outermost first.
func (h *Hold) Finish(ctx context.Context, plan cycle.Plan, levels []lock.Lease) {
	if h.IsLost() {
		h.answers().askLost(levels[len(levels)-1])
		h.incrementLate(plan)
	}
	unknown := h.zooKeeperCounter().endGuarded(levels, plan)
	if unknown || plan.Crash && ctx.Err() == nil && !h.IsLost() {
		e := h.Event
		e.Type = histories.Crash
		h.End(e)
		if unknown && h.Client.Holds() == 0 && h.zooKeeperCounter().inCompany() {
			h.zooKeeperCounter().leave(levels)
		} else {
			h.Client.Abandon()
		}
		return
	}
	h.reenterLost(levels, plan)
	h.ReleaseAll(levels, plan)
}

// reenterLost acquires the lock once more for the owner that has just lost it: through the lost
// lease, which must be refused, since another client may hold the lock by now; or as a new
// acquire, whose lease must be another hold. A careful holder releases at once a lease that it
// should not have got.
func (h *Hold) reenterLost(levels []lock.Lease, plan cycle.Plan) {
	if h.Again == nil || !h.IsLost() || !h.Client.Awake() {
		return
	}
	asked, do := h.askedAgain(levels, plan)
	if do == nil {
		return
	}
	// A lock that queues the request at the end must not keep the client for ever.
	ctx, cancel := context.WithTimeout(h.Client.Run.Life, 2*h.Client.Run.SessionTimeout)
	defer cancel()
	if second, err := Acquire(ctx, h.Client, histories.Acquire, asked, do); err == nil {
		second.Increment(ctx, second.Lease, 0)
		second.ReleaseAll([]lock.Lease{second.Lease}, cycle.Plan{})
	}
}

// askedAgain returns the request of reenterLost, and the call that makes it; do is nil if the
// target has no such call.
//
// Several locks are requested through their lease, all together: at least one of them is lost,
// so they must be refused. Those that are not lost could be acquired again, one by one, or in a
// new acquire.
func (h *Hold) askedAgain(levels []lock.Lease, plan cycle.Plan) (asked histories.Event, do func(context.Context) (lock.Lease, error)) {
	asked = histories.Event{Mode: h.Event.Mode, Depth: len(levels) + 1}
	if len(h.Event.Parts) > 1 {
		m, ok := h.Client.Target().(lock.MultiReenterer)
		if !ok {
			return asked, nil
		}
		all := make([]string, len(h.Event.Parts))
		for i, p := range h.Event.Parts {
			all[i] = p.Lock
			asked.Parts = append(asked.Parts, histories.Part{Lock: p.Lock})
		}
		return asked, func(ctx context.Context) (lock.Lease, error) { return lock.AsLease(m.ReenterAll(ctx, all, h.Lease)) }
	}
	held := levels[len(levels)-1]
	if part, ok := held.(partLease); ok {
		held = part.Lease
	}
	asked.Lock = h.Lock()
	if l, ok := h.Again.(lock.Locker); ok && plan.More.IntN(2) == 0 {
		asked.Depth = 0
		return asked, func(ctx context.Context) (lock.Lease, error) { return l.Acquire(ctx, h.Lock()) }
	}
	return asked, func(ctx context.Context) (lock.Lease, error) { return h.Again.Reenter(ctx, h.Lock(), held) }
}

// ReleaseAll releases the leases of a hold, given outermost first: from the innermost on, or in any
// order if the lock keeps holds by their owner. While one is left the lock is still held, and used.
// Some holders do not wait for the last: their context has ended, and some of those ask for the lock
// again at once.
func (h *Hold) ReleaseAll(levels []lock.Lease, plan cycle.Plan) {
	release, cancel := context.WithTimeout(h.Client.Run.Life, 2*h.Client.Run.SessionTimeout)
	defer cancel()
	var next func()
	for left := h.inOrder(len(levels)); len(left) > 0; left = left[1:] {
		lease, depth := levels[left[0]], len(left)
		if depth < len(levels) {
			// The lock is still held: the releases before must not have freed it.
			h.Increment(release, lease, plan.Race)
			h.answers().askNow(levels, left...)
		}
		alone := depth == 1 && h.Client.Holds() == 1 // else its process would have to go on, not knowing
		h.stays = alone && h.Next != nil && h.Client.Together.Float64() < asksAtOnce
		if h.stays {
			next = h.askNext()
		}
		if alone && (plan.Hasty || plan.Hurried && h.isDown() || h.stays) {
			cancel()
		}
		if alone {
			var released context.CancelFunc
			release, released = h.Client.Cancellable(release)
			defer released()
		}
		h.release(release, lease, depth)
	}
	if next != nil {
		next()
	}
}

// inOrder returns the order in which to release so many leases, by their levels.
func (h *Hold) inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	if _, any := h.Again.(lock.OwnerLocker); any && n > 1 && h.Event.Parts == nil {
		h.Client.Together.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// askNext returns a function, to be called after the last release, that acquires the lock for the owner
// while that release is under way: it must get another hold. A writer that asks to read does so by a
// call that is under way before the release begins, and may get the lock without a turn. That call is
// on record from the release on, without its places: they may be those of the writer.
func (h *Hold) askNext() func() {
	ctx, cancel := context.WithTimeout(h.Client.Run.Life, 2*h.Client.Run.SessionTimeout)
	end := func(second *Hold, err error) {
		cancel()
		if err == nil {
			second.Increment(h.Client.Run.Life, second.Lease, 0)
			second.ReleaseAll(second.Levels(), cycle.Plan{})
		}
	}
	downgrades := h.Event.Mode == histories.ModeWrite && h.Next.Event.Mode == histories.ModeRead
	if !downgrades || h.Client.Together.IntN(2) == 0 {
		return func() { end(Acquire(ctx, h.Client, histories.Acquire, h.Next.Event, h.Next.Acquire)) }
	}
	a, called := newAttempt(h.Client, histories.Acquire, h.Next.Event), make(chan result, 1)
	a.unheard = true
	go func() { // ends when next has taken the result, or the client has crashed
		late := lateness(ctx)
		lease, err := h.Next.Acquire(lock.WithAttempt(ctx, lock.Attempt{Owner: a.Owner, Enqueued: func(lock.Place) {}}))
		called <- result{0, lease, err, late()}
	}()
	wait.For(ctx, time.Nanosecond) // in virtual time it has sent its request then
	return func() {
		a.begin()
		r := <-called
		end(a.end(r.lease, r.err, r.late))
	}
}
