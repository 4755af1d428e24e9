package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// guarded identifies the counters that one lock of a hold guards, and the token for their
// fence.
type guarded struct {
	lock  string
	token histories.Token
}

// guards returns the counters that the hold may write to. Permits guard none: they are not
// exclusive.
func (h *Hold) guards() []guarded {
	switch {
	case h.Event.Permits > 0:
		return nil
	case h.Event.Parts == nil:
		return []guarded{{h.Event.Lock, h.Event.Token}}
	}
	var out []guarded
	for _, p := range h.Event.Parts {
		out = append(out, guarded{p.Lock, p.Token})
	}
	return out
}

// Increment reads and increments the counters of the held locks as a careful user does: it
// writes only while the lease is valid. race is the pause between read and write.
//
// A reader reads twice instead. It does not use the fence: its token has no place in the order
// of the writers.
func (h *Hold) Increment(ctx context.Context, lease lock.Lease, race time.Duration) {
	if !h.Client.Awake() {
		return
	}
	if h.Event.Mode == histories.ModeRead {
		g := h.guards()[0]
		_, _ = h.read(g, histories.StorePlain)
		wait.For(ctx, race)
		if !h.IsLost() && lease.Valid() {
			_, _ = h.read(g, histories.StorePlain)
		}
		return
	}
	type seen struct {
		guarded
		store string
		value int64
	}
	var all []seen
	for _, g := range h.guards() {
		// The fenced one first: a holder whose lease has ended meanwhile stops at the plain
		// one, and the fence must stop it before that.
		stores := []string{histories.StorePlain}
		if g.token != (histories.Token{}) {
			stores = []string{histories.StoreFenced, histories.StorePlain}
		}
		for _, store := range stores {
			if v, err := h.read(g, store); err == nil {
				all = append(all, seen{g, store, v})
			}
		}
	}
	wait.For(ctx, race)
	for _, s := range all {
		if !h.mayWrite(lease, s.store) {
			return
		}
		counters := h.Client.Run.Counters[s.lock]
		_, _ = h.access(histories.Write, s.guarded, s.store, s.value+1, func() (int64, error) {
			return s.value + 1, h.Client.IfAlive(func() error { return counters.Write(s.store, s.token, s.value+1) })
		})
	}
}

// mayWrite reports whether the holder may write now. A holder in a process of its own may be
// paused between the last look at its lease and the write: where there is a fence it writes
// without looking again, as soon as its process runs.
func (h *Hold) mayWrite(lease lock.Lease, store string) bool {
	if h.IsLost() {
		return false
	}
	if store == histories.StoreFenced && h.Client.Run.Hosted() {
		return h.Client.Awake()
	}
	return lease.Valid()
}

func (h *Hold) read(g guarded, store string) (int64, error) {
	counters := h.Client.Run.Counters[g.lock]
	return h.access(histories.Read, g, store, 0, func() (int64, error) { return counters.Read(store, g.token) })
}

// access records one read or write of a counter.
func (h *Hold) access(op histories.Op, g guarded, store string, value int64, do func() (int64, error)) (int64, error) {
	e := h.accessing(op, g, store, value)
	h.Client.Record(e)
	v, err := do()
	e.Type, e.Value = histories.OK, v
	if err != nil {
		e.Type, e.Error, e.Refused = histories.Fail, err.Error(), errors.Is(err, client.ErrStale)
		e.Unexplained = errors.Is(err, lock.ErrNoFence)
	}
	h.Client.Record(e)
	return v, err
}

// incrementLate makes some holders that have lost their lock increment a fenced counter, as if they did
// not know of the loss, when others have had time for their turn: before the write, or before the read
// as well. The fence must refuse an older token than it has seen.
func (h *Hold) incrementLate(plan cycle.Plan) {
	all, way := h.guards(), plan.More.IntN(3)
	if way == 0 || len(all) == 0 || h.Event.Mode == histories.ModeRead || !h.Client.Awake() {
		return
	}
	g := oneOf(plan, all)
	if g.token == (histories.Token{}) {
		return
	}
	if way == 1 {
		wait.For(h.Client.Run.Life, h.turn(plan))
	}
	v, err := h.read(g, histories.StoreFenced)
	if err != nil {
		return
	}
	wait.For(h.Client.Run.Life, h.turn(plan))
	counters := h.Client.Run.Counters[g.lock]
	_, _ = h.access(histories.Write, g, histories.StoreFenced, v+1, func() (int64, error) {
		return v + 1, h.Client.IfAlive(func() error { return counters.Write(histories.StoreFenced, g.token, v+1) })
	})
}

// turn draws the time that a holder that has lost its lock gives others for their turn.
func (h *Hold) turn(plan cycle.Plan) time.Duration {
	return time.Duration(plan.More.Float64() * float64(h.Client.Run.SessionTimeout/4))
}

// accessing returns the invocation of one read or write of a counter.
func (h *Hold) accessing(op histories.Op, g guarded, store string, value int64) histories.Event {
	e := h.Event
	e.Type, e.Op, e.Lock, e.Parts, e.Token = histories.Invoke, op, g.lock, nil, g.token
	e.Store, e.Value = store, value
	return e
}
