package workload

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// guardedNode is the counter in ZooKeeper that a lock guards.
func (r *run) guardedNode(name string) string { return path.Join(r.observer.root, "guarded", name) }

// putGuarded makes these counters, for targets that can write to them.
func (r *run) putGuarded() error {
	if !r.promises.Guards {
		return nil
	}
	if err := r.observer.create(path.Dir(r.guardedNode("any"))); err != nil {
		return err
	}
	for name, l := range r.locks {
		if !l.Recipe.Guards() {
			continue
		}
		node := r.guardedNode(name)
		if err := r.observer.create(node); err != nil {
			return err
		}
		if _, err := r.observer.conn.Set(node, []byte("0"), -1); err != nil {
			return err
		}
	}
	return nil
}

// seen is what a hold has read of a counter in ZooKeeper.
type seen struct {
	guarded
	value int64
}

// beginGuarded reads a counter in ZooKeeper when the hold begins, if it is
// planned to be incremented: of several locks, that of any one of them. A reader
// keeps away from it.
func (h *hold) beginGuarded(plan cycle) {
	if plan.guarded {
		h.readGuarded(plan, h.c.run.cfg.SessionTimeout)
	}
}

// readGuarded reads one of the counters that the hold guards, unless it has.
func (h *hold) readGuarded(plan cycle, patience time.Duration) {
	if _, ok := h.lease.(lock.GuardedLease); !ok || h.seen != nil || !h.c.run.promises.Guards || h.event.Mode == histories.ModeRead || h.event.Permits > 0 || h.isLost() {
		return
	}
	ctx, cancel := context.WithTimeout(h.c.run.life, patience)
	defer cancel()
	g := plan.oneOf(h.guards())
	if v, err := h.access(histories.Read, g, histories.StoreGuarded, 0, func() (int64, error) { return h.c.run.observer.value(ctx, h.c.run.guardedNode(g.lock)) }); err == nil {
		h.seen = &seen{g, v}
	}
}

// awaitSession has a holder that has lost its lease write when its client has another
// session, or has reconnected in its own, and others have had their turn: what its
// lock was good for is over. If somebody else of its household may hold the lock by then,
// it waits for that: the one's write must not pass for the other's.
func (h *hold) awaitSession(plan cycle) {
	timeout := h.c.run.cfg.SessionTimeout
	bounded, cancel := context.WithTimeout(h.c.run.life, 2*timeout)
	defer cancel()
	for since := time.Now(); bounded.Err() == nil; pause(bounded, heartbeat/10, nil) {
		now := h.c.status()
		if now.Linked != 0 && (lock.SessionName(now.Session) != h.event.Session || time.Since(since) > timeout/2) {
			break
		}
	}
	turn := time.Duration(plan.more.Float64() * float64(timeout/4))
	if len(h.c.home.members) == 1 {
		pause(bounded, turn, nil)
		return
	}
	bounded, cancel = context.WithTimeout(bounded, timeout)
	defer cancel()
	for !h.siblingHolds() && bounded.Err() == nil {
		pause(bounded, time.Millisecond/2, nil)
	}
}

// siblingHolds reports whether somebody else who shares the client holds the lock whose
// counter the hold has read.
func (h *hold) siblingHolds() bool {
	for _, other := range h.c.home.members {
		if other == h.c {
			continue
		}
		other.mu.Lock()
		has := slices.ContainsFunc(other.held, func(x *hold) bool { return x.event.Lock == h.seen.lock })
		other.mu.Unlock()
		if has {
			return true
		}
	}
	return false
}

// oneOf is the counter that the plan has drawn.
func (c cycle) oneOf(all []guarded) guarded { return all[int(c.part*float64(len(all)))] }

// endGuarded writes what beginGuarded has read, and one, however long ago that
// was, without a look at the lease: the guard is what keeps an old holder out. It
// reports whether nobody knows if it was written. Then the process must die: it
// can neither do it again nor go on.
//
// The innermost of leases guards it; several locks that are held at once do so
// together, also where one of them was acquired again.
func (h *hold) endGuarded(leases []lock.Lease, plan cycle) (unknown bool) {
	if h.seen == nil || !h.c.awake() {
		return false
	}
	if h.isLost() {
		h.awaitSession(plan)
	}
	ctx, cancel := context.WithTimeout(h.c.run.life, 2*h.c.run.cfg.SessionTimeout)
	defer cancel()
	lease := leases[len(leases)-1]
	if h.event.Parts != nil {
		lease = h.lease
	}
	value := h.seen.value + 1
	e := h.accessing(histories.Write, h.seen.guarded, histories.StoreGuarded, value)
	h.c.record(e)
	err := lease.(lock.GuardedLease).SetGuarded(ctx, h.c.run.guardedNode(h.seen.lock), []byte(strconv.FormatInt(value, 10)))
	switch {
	case err == nil:
		e.Type = histories.OK
	case errors.Is(err, lock.ErrLost):
		e.Type, e.Error = histories.Fail, err.Error()
	default:
		return true
	}
	h.c.record(e)
	return false
}

// value reads a counter as of the time of the call: it writes next to it first,
// which a majority has to agree to, and then the server that has answered has all
// that came before.
func (o *observer) value(ctx context.Context, node string) (int64, error) {
	type answer struct {
		value int64
		err   error
	}
	got := make(chan answer, 1)
	// Ends when the servers answer, at the latest when the connection is closed.
	o.wg.Go(func() {
		_, err := o.conn.Set(path.Dir(node), nil, -1)
		if err != nil {
			got <- answer{0, err}
			return
		}
		data, _, err := o.conn.Get(node)
		if err != nil {
			got <- answer{0, err}
			return
		}
		v, err := strconv.ParseInt(string(data), 10, 64)
		got <- answer{v, err}
	})
	select {
	case a := <-got:
		return a.value, a.err
	case <-ctx.Done():
		return 0, fmt.Errorf("nobody has answered: %w", context.Cause(ctx))
	}
}
