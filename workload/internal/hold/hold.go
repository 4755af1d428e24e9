// Package hold implements the part of a client's cycle from acquire to release, for all
// recipes: it reads and writes the counters that the lock guards, re-enters, asks the lock
// about itself, and records all of it.
package hold

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

// Hold is a lock, or several acquired at once, that a process holds, from the
// acquire's completion to the call of the outermost Release.
type Hold struct {
	*journal.Holding // its event has the fields that all events of the hold have in common
	Client           *client.Client
	Lease            lock.Lease
	above            int            // levels of the lock that its owner believes it had before
	since            int            // the client's strikes when the hold began
	seen             *seen          // of the counter in ZooKeeper, when it is to be written
	Again            lock.Reenterer // for re-entries; nil where there are none
	Next             *Claim         // what its owner may ask for while the lock is being released; nil: nothing
	inner            lock.Lease     // with which the hold has begun besides Lease: see AcquireBoth
	stays            bool           // its process goes on, whether or not the lock is known to be free
	writes           bool           // to a node in ZooKeeper, as others do who hold the lock too
	Crossed          bool           // its owner had the lock in another mode before: its node may be that of another lease
	done             chan struct{}  // closed when over

	mu   sync.Mutex
	lost bool // on record
	down bool // the lease's link, on record
	over bool // Release was called, or the process crashed
}

// New begins the hold of a lease that an acquire of the client has returned. acquired is the
// completion of the acquire.
func New(c *client.Client, acquired histories.Event, lease lock.Lease) *Hold {
	h := &Hold{Client: c, Lease: lease, done: make(chan struct{}), since: c.StrikeCount(), above: max(acquired.Depth, 1) - 1}
	acquired.Type, acquired.Op, acquired.Depth, acquired.Late = "", "", 0, 0
	h.Holding = &journal.Holding{Event: acquired, Suspended: h.linkChanged}
	if l, ok := lease.(lock.NodesLease); ok {
		h.Nodes = l.Nodes
	}
	if lease.Lost() != nil {
		// Ends with the hold: every hold is over before its client closes.
		c.Background.Go(func() {
			select {
			case <-lease.Lost():
				h.IsLost()
			case <-h.done:
			}
		})
	}
	return h
}

// IsLost asks the lease, and records a loss before any client acts on it.
func (h *Hold) IsLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.isLostLocked()
}

func (h *Hold) isLostLocked() bool {
	if h.lost {
		return true
	}
	select {
	case <-h.Lease.Lost():
	default:
		return false
	}
	if !h.over {
		h.lost = true
		h.recordLocked(histories.Lost)
	}
	return true
}

// linkChanged records that the lease's link is down, or back.
func (h *Hold) linkChanged(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.lost || h.down == down {
		return // over, or another lease of several has reported it already
	}
	h.down = down
	if down {
		h.recordLocked(histories.Suspended)
	} else {
		h.recordLocked(histories.Resumed)
	}
}

// isDown reports whether the lease has reported its link down.
func (h *Hold) isDown() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.down
}

func (h *Hold) recordLocked(t histories.Type) {
	e := h.Event
	e.Type = t
	h.Client.Record(e)
}

// End records the event by which the holder itself ends the hold. A loss that has been reported
// by now is recorded before it, and none after it.
func (h *Hold) End(e histories.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.isLostLocked()
	h.over = true
	close(h.done)
	h.Client.Record(e)
	h.Client.DropHold(h.Holding)
}

// release gives back one lease of the hold, of so many as depth says. When it is not known whether
// the release of the last one freed the lock, the process is retired, unless it stays, or holds
// another lock: then it goes on until it holds none.
func (h *Hold) release(ctx context.Context, lease lock.Lease, depth int) {
	h.Client.Awake()
	e := h.Event
	if part, ok := lease.(partLease); ok {
		e = h.part(part.lock)
	}
	e.Type, e.Op, e.Depth = histories.Invoke, histories.Release, depth
	if depth == 1 {
		h.End(e)
	} else {
		h.Client.Record(e)
	}
	due, called, late := h.due(lease), time.Now(), lateness(ctx)
	err := lease.Release(ctx)
	e.Late = max(late(), h.overdue(lease, called))
	switch {
	case err == nil:
		e.Type = histories.OK
		if depth == 1 {
			h.Client.Journal.Cycles.Add(1)
		}
	case errors.Is(err, lock.ErrLost), depth > 1, h.stays, h.Client.Holds() > 0:
		// The lock is free for another reason; or the process goes on.
		e.Type = histories.Fail
		e.Refused = depth == 1 && errors.Is(err, lock.ErrLost) && time.Now().Before(due)
	default:
		e.Type = histories.Info
	}
	if err != nil {
		e.Error, e.Unexplained = err.Error(), e.Late == 0 && unexplained(h.Client, err)
	}
	h.Client.Record(e)
	if e.Type == histories.Info {
		h.Client.Retire()
	} else if depth == 1 && h.Client.Run.Promises.Says && h.Client.Asks.Float64() < askFreeShare {
		h.answers().askOver(lease)
		h.answers().askFree()
	}
}

// overdue returns for how long a call has gone on after the deadline of its lease, by what the lease says
// now: a release waits for no server any more then.
func (h *Hold) overdue(lease lock.Lease, called time.Time) time.Duration {
	due := h.due(lease)
	if due.IsZero() {
		return 0
	}
	return max(0, min(time.Since(due), time.Since(called)))
}

// due is deadlineOf, but the zero time where deadlines come closer.
func (h *Hold) due(lease lock.Lease) time.Time {
	if h.Client.Run.Shortens {
		return time.Time{}
	}
	return deadlineOf(lease)
}

// deadlineOf returns the deadline of a lease, the zero time if it has none.
func deadlineOf(lease lock.Lease) time.Time {
	if l, ok := lease.(lock.DeadlineLease); ok {
		return l.Deadline()
	}
	return time.Time{}
}

// RevokeRequested records that the holder was asked to release, even after the end of the
// lease: a holder must never receive a request that no client has sent.
func (h *Hold) RevokeRequested() {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.Event
	e.Type = histories.RevokeRequested
	h.Client.RecordAlive(e)
}

// partLease is a re-entry of one lock of several.
type partLease struct {
	lock.Lease
	lock string
}

// part returns the fields that the events of one lock of the hold have in common.
func (h *Hold) part(name string) histories.Event {
	e := h.Event
	for _, p := range e.Parts {
		if p.Lock == name {
			e.Lock, e.Token, e.Parts = p.Lock, p.Token, nil
		}
	}
	return e
}

// reenter acquires the held lock, or the first of several, again. It returns nil when it did
// not get it.
func (h *Hold) reenter(ctx context.Context, r lock.Reenterer, held lock.Lease, depth int) lock.Lease {
	e := h.part(h.Lock())
	if part, ok := held.(partLease); ok {
		held = part.Lease
	}
	e.Type, e.Op, e.Token = histories.Invoke, histories.Acquire, histories.Token{}
	h.Client.Record(e)
	late := lateness(ctx)
	lease, err := r.Reenter(ctx, e.Lock, held)
	e.Late = late()
	if err != nil {
		h.IsLost()
		e.Type, e.Error = histories.Fail, err.Error()
		e.Unexplained = e.Late == 0 && !h.Client.Run.Locks[e.Lock].Recipe.RefusesOwner() && unexplained(h.Client, err)
		h.Client.Record(e)
		return nil
	}
	e.Type, e.Token, e.Depth = histories.OK, lease.Token(), depth
	h.Client.Record(e)
	if h.Event.Parts != nil {
		return partLease{lease, e.Lock}
	}
	return lease
}
