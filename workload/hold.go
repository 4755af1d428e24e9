package workload

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// hold is a lock, or several acquired at once, that a process holds, from the
// acquire's completion to the call of the outermost Release.
type hold struct {
	c     *client
	event histories.Event // process, lock or parts, owner, session and token, for all its events
	lease lock.Lease
	above int            // how often its owner had the lock before, as far as the owner knows
	since int            // the client's strikes when it began
	seen  *seen          // of the counter in ZooKeeper, when it is to be written
	again lock.Reenterer // for re-entries; nil where there are none
	done  chan struct{}  // closed when over

	lingers atomic.Bool // it would go on if its client were hit now

	mu   sync.Mutex
	lost bool // on record
	down bool // the lease's link, on record
	over bool // Release was called, or the process crashed
}

func newHold(c *client, acquired histories.Event, lease lock.Lease) *hold {
	h := &hold{c: c, lease: lease, done: make(chan struct{}), since: c.strikeCount(), above: max(acquired.Depth, 1) - 1}
	h.event = acquired
	h.event.Type, h.event.Op, h.event.Depth = "", "", 0
	if lease.Lost() != nil {
		// Ends with the hold: every hold is over before its client closes.
		c.wg.Go(func() {
			select {
			case <-lease.Lost():
				h.isLost()
			case <-h.done:
			}
		})
	}
	return h
}

// isLost asks the lease, and puts a loss on record before anybody acts on it.
func (h *hold) isLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.isLostLocked()
}

func (h *hold) isLostLocked() bool {
	if h.lost {
		return true
	}
	select {
	case <-h.lease.Lost():
	default:
		return false
	}
	if !h.over {
		h.lost = true
		h.recordLocked(histories.Lost)
	}
	return true
}

// suspended puts on record that the lease's link is down, or back.
func (h *hold) suspended(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.lost || h.down == yes {
		return // over, or another lease of several has told already
	}
	h.down = yes
	if yes {
		h.recordLocked(histories.Suspended)
	} else {
		h.recordLocked(histories.Resumed)
	}
}

// isDown reports whether the lease's link is down, as it was told.
func (h *hold) isDown() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.down
}

func (h *hold) recordLocked(t histories.Type) {
	e := h.event
	e.Type = t
	h.c.record(e)
}

// end records the event that ends the hold by its holder's own doing. A loss
// that has been told by now is on record before it, and none is after it.
func (h *hold) end(e histories.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.isLostLocked()
	h.over = true
	close(h.done)
	h.c.record(e)
	h.c.dropHold(h)
}

// release gives back one level of the hold. When nobody knows whether the
// outermost was freed, the process is retired, unless it holds something else:
// then it goes on for as long as it does.
func (h *hold) release(ctx context.Context, lease lock.Lease, depth int) {
	h.c.awake()
	e := h.event
	if part, ok := lease.(partLease); ok {
		e = h.part(part.lock)
	}
	e.Type, e.Op, e.Depth = histories.Invoke, histories.Release, depth
	if depth == 1 {
		h.c.setReleasing(true)
		defer h.c.setReleasing(false)
		h.end(e)
	} else {
		h.c.record(e)
	}
	err := lease.Release(ctx)
	switch {
	case err == nil:
		e.Type = histories.OK
		if depth == 1 {
			h.c.run.journal.cycles.Add(1)
		}
	case errors.Is(err, lock.ErrLost), depth > 1, h.c.holds() > 0:
		// Not its doing that the lock is free; or its process goes on.
		e.Type = histories.Fail
	default:
		e.Type = histories.Info
	}
	if err != nil {
		e.Error = err.Error()
	}
	h.c.record(e)
	if e.Type == histories.Info {
		h.c.retire()
	} else if depth == 1 && h.c.run.promises.Says && h.c.asks.Float64() < askFree {
		h.askFree()
	}
}

// partLease is a re-entry of one lock of several.
type partLease struct {
	lock.Lease
	lock string
}

// part is what the events of one lock of the hold have in common.
func (h *hold) part(name string) histories.Event {
	e := h.event
	for _, p := range e.Parts {
		if p.Lock == name {
			e.Lock, e.Token, e.Parts = p.Lock, p.Token, nil
		}
	}
	return e
}

// reenter acquires the held lock, or the first of several, again. It returns nil
// when it did not get it.
func (h *hold) reenter(ctx context.Context, r lock.Reenterer, held lock.Lease, depth int) lock.Lease {
	e := h.part(h.lock())
	if part, ok := held.(partLease); ok {
		held = part.Lease
	}
	e.Type, e.Op, e.Token = histories.Invoke, histories.Acquire, histories.Token{}
	h.c.record(e)
	lease, err := r.Reenter(ctx, e.Lock, held)
	if err != nil {
		h.isLost()
		e.Type, e.Error = histories.Fail, err.Error()
		h.c.record(e)
		return nil
	}
	e.Type, e.Token, e.Depth = histories.OK, lease.Token(), depth
	h.c.record(e)
	if h.event.Parts != nil {
		return partLease{lease, e.Lock}
	}
	return lease
}
