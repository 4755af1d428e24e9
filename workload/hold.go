package workload

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// hold is a lock that a process holds, from the acquire's completion to the
// call of the outermost Release.
type hold struct {
	c     *client
	event histories.Event // process, lock, owner, session and token, for all its events
	lease Lease
	since int           // the client's strikes when it began
	done  chan struct{} // closed when over

	mu   sync.Mutex
	lost bool // on record
	over bool // Release was called, or the process crashed
}

func newHold(c *client, acquired histories.Event, lease Lease) *hold {
	h := &hold{c: c, lease: lease, done: make(chan struct{}), since: c.strikeCount()}
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
	if h.over || h.lost {
		return
	}
	if yes {
		h.recordLocked(histories.Suspended)
	} else {
		h.recordLocked(histories.Resumed)
	}
}

func (h *hold) recordLocked(t histories.Type) {
	e := h.event
	e.Type = t
	h.c.run.journal.record(e)
}

// end records the event that ends the hold by its holder's own doing. A loss
// that has been told by now is on record before it, and none is after it.
func (h *hold) end(e histories.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.isLostLocked()
	h.over = true
	close(h.done)
	h.c.run.journal.record(e)
	h.c.setHold(nil)
}

// release gives back one level of the hold. When nobody knows whether the
// outermost was freed, the process is retired.
func (h *hold) release(ctx context.Context, lease Lease, depth int) {
	e := h.event
	e.Type, e.Op, e.Depth = histories.Invoke, histories.Release, depth
	if depth == 1 {
		h.end(e)
	} else {
		h.c.run.journal.record(e)
	}
	err := lease.Release(ctx)
	switch {
	case err == nil:
		e.Type = histories.OK
		if depth == 1 {
			h.c.run.journal.cycles.Add(1)
		}
	case errors.Is(err, ErrLost), depth > 1:
		// Not its doing that the lock is free; or an inner level, which its
		// process goes on to hold the lock without.
		e.Type = histories.Fail
	default:
		e.Type = histories.Info
	}
	if err != nil {
		e.Error = err.Error()
	}
	h.c.run.journal.record(e)
	if e.Type == histories.Info {
		h.c.retire()
	}
}

// reenter acquires the held lock again. It returns nil when it did not get it.
func (h *hold) reenter(ctx context.Context, r Reenterer, held Lease, depth int) Lease {
	e := h.event
	e.Type, e.Op, e.Token = histories.Invoke, histories.Acquire, histories.Token{}
	h.c.run.journal.record(e)
	lease, err := r.Reenter(ctx, e.Lock, held)
	if err != nil {
		h.isLost()
		e.Type, e.Error = histories.Fail, err.Error()
		h.c.run.journal.record(e)
		return nil
	}
	e.Type, e.Token, e.Depth = histories.OK, lease.Token(), depth
	h.c.run.journal.record(e)
	return lease
}

// increment reads and increments the lock's counters as a careful user does:
// it writes only while the lease is valid. race is the pause in between.
func (h *hold) increment(ctx context.Context, lease Lease, race time.Duration) {
	stores := []string{histories.StorePlain}
	if h.event.Token != (histories.Token{}) {
		stores = append(stores, histories.StoreFenced)
	}
	counters := h.c.run.counters[h.event.Lock]
	values := make(map[string]int64, len(stores))
	for _, store := range stores {
		v, err := h.access(histories.Read, store, 0, func() (int64, error) { return counters.read(store, h.event.Token) })
		if err == nil {
			values[store] = v
		}
	}
	pause(ctx, race, nil)
	for _, store := range stores {
		v, ok := values[store]
		if !ok || h.isLost() || !lease.Valid() {
			continue
		}
		_, _ = h.access(histories.Write, store, v+1, func() (int64, error) { return v + 1, counters.write(store, h.event.Token, v+1) })
	}
}

// access records one read or write of a counter.
func (h *hold) access(op histories.Op, store string, value int64, do func() (int64, error)) (int64, error) {
	e := h.event
	e.Type, e.Op, e.Store, e.Value = histories.Invoke, op, store, value
	h.c.run.journal.record(e)
	v, err := do()
	e.Type, e.Value = histories.OK, v
	if err != nil {
		e.Type, e.Error = histories.Fail, err.Error()
	}
	h.c.run.journal.record(e)
	return v, err
}
