package hold

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// zooKeeperCounter is a counter in ZooKeeper that a hold reads when it begins, and writes when
// it ends.
type zooKeeperCounter struct{ *Hold }

func (h *Hold) zooKeeperCounter() zooKeeperCounter { return zooKeeperCounter{h} }

// seen is the value that a hold has read of a counter in ZooKeeper.
type seen struct {
	guarded
	value int64
}

// beginGuarded reads a counter in ZooKeeper when the hold begins, if the plan increments it:
// under several locks, that of one of them; also if the write of another client of the application
// may still be under way. A reader does not use it.
func (h zooKeeperCounter) beginGuarded(plan cycle.Plan) {
	left := slices.ContainsFunc(h.Client.Siblings(), func(other *client.Client) bool { return other.Left.Swap(false) })
	if (plan.Guarded || left) && !h.shares() {
		h.readGuarded(plan, h.Client.Run.SessionTimeout)
	}
}

// readGuarded reads one of the counters that the hold guards, unless the hold has read one.
func (h zooKeeperCounter) readGuarded(plan cycle.Plan, patience time.Duration) {
	if _, ok := h.Lease.(lock.GuardedLease); !ok || h.seen != nil || !h.Client.Run.Promises.Guards || h.shares() || h.IsLost() {
		return
	}
	ctx, cancel := context.WithTimeout(h.Client.Run.Life, patience)
	defer cancel()
	g := oneOf(plan, h.guards())
	if v, err := h.access(histories.Read, g, histories.StoreGuarded, 0, func() (int64, error) {
		return h.Client.Run.Observer.Value(ctx, h.Client.Run.Observer.GuardedNode(g.lock))
	}); err == nil {
		h.seen = &seen{g, v}
	}
}

// awaitSession delays the write of a holder that has lost its lease until its client has
// another session, or has reconnected in its own, and other clients have had their turn: then
// the lock no longer protects the write. If a sibling may hold the lock by then, awaitSession
// waits for the sibling: the write of one must not pass for that of the other.
func (h zooKeeperCounter) awaitSession(plan cycle.Plan) {
	timeout := h.Client.Run.SessionTimeout
	bounded, cancel := context.WithTimeout(h.Client.Run.Life, 2*timeout)
	defer cancel()
	for since := time.Now(); bounded.Err() == nil; wait.For(bounded, heartbeat/10) {
		now := h.Client.Status()
		if now.Linked != 0 && (lock.SessionName(now.Session) != h.Event.Session || time.Since(since) > timeout/2) {
			break
		}
	}
	turn := h.turn(plan)
	if len(h.Client.Siblings()) == 0 {
		wait.For(bounded, turn)
		return
	}
	bounded, cancel = context.WithTimeout(bounded, timeout)
	defer cancel()
	for !h.siblingHolds() && bounded.Err() == nil {
		wait.For(bounded, time.Millisecond/2)
	}
}

// siblingHolds reports whether another client of the application holds the lock whose
// counter the hold has read.
func (h zooKeeperCounter) siblingHolds() bool {
	return slices.ContainsFunc(h.Client.Siblings(), func(other *client.Client) bool { return other.HoldsLock(h.seen.lock) })
}

// oneOf returns the counter that the plan has drawn.
func oneOf(c cycle.Plan, all []guarded) guarded { return all[int(c.Part*float64(len(all)))] }

// endGuarded writes the value that beginGuarded has read, plus one, however long ago that was,
// without a look at the lease: the guard must keep an old holder out. It reports whether it is
// unknown if the value was written. Then the process must die: it can neither write again nor
// go on.
//
// The innermost lease guards the write; several locks that are held at once do so together,
// also where one of them was acquired again.
func (h zooKeeperCounter) endGuarded(leases []lock.Lease, plan cycle.Plan) (unknown bool) {
	if h.shares() {
		if h.Client.Run.Hosted() {
			return false // the worker's target may guard writes of exclusive locks only
		}
		if _, ok := h.Lease.(lock.GuardedLease); ok && (plan.Guarded || h.writes) && !h.Crossed && h.Client.Run.Promises.Guards && h.Client.Awake() {
			return h.set(leases[len(leases)-1], seen{guarded{h.Event.Lock, h.Event.Token}, 0})
		}
		return false
	}
	if h.seen == nil || !h.Client.Awake() {
		return false
	}
	if h.IsLost() {
		h.awaitSession(plan)
	}
	lease := leases[len(leases)-1]
	if h.Event.Parts != nil {
		lease = h.Lease
	}
	return h.set(lease, *h.seen)
}

// shares reports whether others may hold the lock at the same time, and write to the node as well.
func (h *Hold) shares() bool { return h.Event.Mode == histories.ModeRead || h.Event.Permits > 0 }

// inCompany reports whether another client of the application may be granted the lock in the same
// session.
func (h zooKeeperCounter) inCompany() bool { return len(h.Client.Siblings()) > 0 }

// leave ends a hold whose write may still be under way: its process counts as crashed, for it cannot
// go on, but its client gives the leases back. The write must not be carried out when another client
// of the application has got the lock.
func (h zooKeeperCounter) leave(leases []lock.Lease) {
	ctx, cancel := context.WithCancel(h.Client.Run.Life)
	cancel()
	h.Client.Retire()
	h.Client.Left.Store(true)
	for _, lease := range slices.Backward(leases) {
		if part, ok := lease.(partLease); ok {
			lease = part.Lease
		}
		_ = lease.Release(ctx) // goes on in the background
	}
}

// set writes the value that comes after the one seen. It returns what endGuarded returns.
func (h zooKeeperCounter) set(lease lock.Lease, s seen) (unknown bool) {
	patience := 2 * h.Client.Run.SessionTimeout
	if h.inCompany() && h.Client.Together.IntN(2) == 0 {
		patience = time.Duration(h.Client.Together.Float64() * float64(heartbeat)) // the write may be carried out after the call
	}
	ctx, cancel := context.WithTimeout(h.Client.Run.Life, patience)
	defer cancel()
	value, node := s.value+1, h.Client.Run.Observer.GuardedNode(s.lock)
	if h.shares() {
		node = h.Client.Run.Observer.SharedNode(s.lock)
	}
	e := h.accessing(histories.Write, s.guarded, histories.StoreGuarded, value)
	h.Client.Record(e)
	late := lateness(ctx)
	err := lease.(lock.GuardedLease).SetGuarded(ctx, node, []byte(strconv.FormatInt(value, 10)))
	e.Late = late()
	switch {
	case err == nil:
		e.Type = histories.OK
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrNotWritten):
		e.Type, e.Error, e.Unexplained = histories.Fail, err.Error(), e.Late == 0 && unexplained(h.Client, err)
	default:
		return true
	}
	h.Client.Record(e)
	return false
}
