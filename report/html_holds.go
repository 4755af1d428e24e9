package report

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// tenure is the drawing of a current hold, or of a current stay inside a double barrier.
type tenure struct {
	*states.Hold
	bar
	inner     []bar
	suspended time.Duration // -1 if it is not
}

// changed draws a change of a hold by an event.
func (t *timeline) changed(c states.Change, e *histories.Event) {
	if c.Kind == states.Began {
		t.began(c.Hold, e)
		return
	}
	i := slices.IndexFunc(t.holds, func(h *tenure) bool { return h.Hold == c.Hold })
	h := t.holds[i]
	switch c.Kind {
	case states.Again:
		b := t.barOf(e, e.Time)
		b.token, b.kind, b.amount = h.token, heldAgain, int32(max(e.Depth, len(h.inner)+2))
		h.inner = append(h.inner, b)
	case states.Inner:
		b := h.inner[len(h.inner)-1]
		h.inner = h.inner[:len(h.inner)-1]
		b.to = e.Time
		t.add(h.Lock, b)
	case states.Lost:
		t.close(h, e.Time, 0)
		h.from, h.kind, h.note, h.inner = e.Time, afterLoss, 0, nil
	case states.Ended:
		t.close(h, e.Time, 0)
		t.holds = slices.Delete(t.holds, i, i+1)
	}
}

// began starts the drawing of a hold that a successful operation began.
func (t *timeline) began(hold *states.Hold, e *histories.Event) {
	b := t.barOf(e, e.Time)
	b.token, b.kind = hold.Token, held
	if !hold.Recipe.IsLock() {
		b.kind = inside
	}
	h := &tenure{Hold: hold, bar: b, suspended: -1}
	t.holds = append(t.holds, h)
	if why := t.ended[hold.Session]; why != "" {
		t.becomesStale(h, e.Time, why)
	}
}

// link handles the event that the link of holds is down, or back.
func (t *timeline) link(e *histories.Event) {
	about := t.tracker.About(e)
	for _, h := range t.holds {
		if slices.Contains(about, h.Hold) && h.Recipe.IsLock() {
			t.endSuspension(h, e.Time)
			if e.Type == histories.Suspended && !h.Lost {
				h.suspended = e.Time
			}
		}
	}
}

// close draws h up to the given time.
func (t *timeline) close(h *tenure, at time.Duration, flags uint8) {
	t.staleByClock(h, at)
	t.endSuspension(h, at)
	for _, b := range append(h.inner, h.bar) {
		b.to, b.flags = at, b.flags|flags
		t.add(h.Lock, b)
	}
}

func (t *timeline) endSuspension(h *tenure, at time.Duration) {
	if h.suspended >= 0 {
		b := h.bar
		b.from, b.to, b.kind, b.note = h.suspended, at, suspended, 0
		t.add(h.Lock, b)
		h.suspended = -1
	}
}
