package report

import (
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// tenure is a hold that goes on, or a stay inside a double barrier.
type tenure struct {
	bar
	lock      string
	owner     string
	session   string
	inner     []bar
	suspended time.Duration // -1 if it is not
	lost      bool          // what goes on is afterLoss
	inside    bool          // a double barrier
}

// released ends an inner hold, or the hold.
func (t *timeline) released(lock string, h *tenure, e *histories.Event) {
	if n := len(h.inner); n > 0 && e.Depth != 1 {
		b := h.inner[n-1]
		h.inner = h.inner[:n-1]
		b.to = e.Time
		t.add(lock, b)
		return
	}
	t.endWhere(lock, e.Time, 0, func(other *tenure) bool { return other == h })
}

// began starts what an operation that went well brought.
func (t *timeline) began(lock string, e *histories.Event, b bar) {
	b.from, b.kind, b.note, b.place = e.Time, held, 0, 0
	switch e.Op {
	case histories.Acquire, histories.TryAcquire:
		if !t.header.RecipeOf(lock).HasPermits() {
			for _, h := range t.holds[lock] {
				if !h.lost && h.belongs(e) {
					b.kind, b.amount = heldAgain, int32(max(e.Depth, len(h.inner)+2))
					h.inner = append(h.inner, b)
					return
				}
			}
		}
	case histories.Enter:
		b.kind = inside
	default:
		return
	}
	h := &tenure{bar: b, lock: lock, owner: e.Owner, session: e.Session, suspended: -1, inside: b.kind == inside}
	t.holds[lock] = append(t.holds[lock], h)
	if why := t.ended[e.Session]; why != "" {
		t.becomesStale(h, e.Time, why)
	}
}

// belongs reports whether an event is of the hold's owner.
func (h *tenure) belongs(e *histories.Event) bool {
	mine := int(h.process) == e.Process
	if h.owner != "" && e.Owner != "" {
		mine = h.owner == e.Owner
	}
	return mine && h.mode() == e.Mode
}

func (h *tenure) mode() histories.Mode {
	switch {
	case h.flags&flagRead != 0:
		return histories.ModeRead
	case h.flags&flagWrite != 0:
		return histories.ModeWrite
	}
	return ""
}

// find returns the hold that an event is about: that of its token if it names
// one, else the youngest.
func (t *timeline) find(lock string, e *histories.Event) (found *tenure) {
	token := e.Token
	for _, p := range e.Parts {
		if p.Lock == lock {
			token = p.Token
		}
	}
	for _, h := range t.holds[lock] {
		none := histories.Token{}
		if !h.inside && h.belongs(e) && (token == none || h.token == none || token == h.token) {
			found = h
		}
	}
	return found
}

// each calls do for every hold that an event of a link is about.
func (t *timeline) each(e *histories.Event, do func(*tenure)) {
	if keys := locksOf(e); len(keys) > 0 {
		for _, key := range keys {
			if h := t.find(key, e); h != nil {
				do(h)
			}
		}
		return
	}
	for _, holds := range t.holds {
		for _, h := range holds {
			if int(h.process) == e.Process && !h.inside {
				do(h)
			}
		}
	}
}

func (t *timeline) lost(e *histories.Event) {
	for _, key := range locksOf(e) {
		h := t.find(key, e)
		if h == nil || h.lost {
			continue
		}
		t.close(h, e.Time, 0)
		h.from, h.kind, h.note, h.lost, h.inner = e.Time, afterLoss, 0, true, nil
	}
}

func (t *timeline) crashed(e *histories.Event) {
	t.abandon(e.Process, e.Time, 0)
	for _, lock := range slices.Sorted(maps.Keys(t.holds)) {
		t.endWhere(lock, e.Time, 0, func(h *tenure) bool { return int(h.process) == e.Process })
	}
}

// close draws what h was until now.
func (t *timeline) close(h *tenure, at time.Duration, flags uint8) {
	t.staleByClock(h, at)
	t.endSuspension(h, at)
	for _, b := range h.inner {
		b.to, b.flags = at, b.flags|flags
		t.add(h.lock, b)
	}
	b := h.bar
	b.to, b.flags = at, b.flags|flags
	t.add(h.lock, b)
}

func (t *timeline) endSuspension(h *tenure, at time.Duration) {
	if h.suspended >= 0 {
		b := h.bar
		b.from, b.to, b.kind, b.note = h.suspended, at, suspended, 0
		t.add(h.lock, b)
		h.suspended = -1
	}
}

// endWhere ends the holds of a lock that which picks.
func (t *timeline) endWhere(lock string, at time.Duration, flags uint8, which func(*tenure) bool) {
	for _, h := range slices.Clone(t.holds[lock]) {
		if which(h) {
			t.close(h, at, flags)
			t.holds[lock] = slices.DeleteFunc(t.holds[lock], func(other *tenure) bool { return other == h })
		}
	}
}
