package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// holdTracker follows who holds what while the history is read in order.
type holdTracker struct {
	t      *trace
	owned  map[ownerKey]*ownership
	apart  map[string][]*hold // open holds of a semaphore
	lostAt map[lockUse]histories.Event
}

func newHoldTracker(t *trace) *holdTracker {
	return &holdTracker{t, map[ownerKey]*ownership{}, map[string][]*hold{}, map[lockUse]histories.Event{}}
}

// ownership returns that of whoever asks for o.
func (b *holdTracker) ownership(o *op) *ownership {
	k := ownerKey{o.lock, o.owner, o.mode}
	if last := &o.by.last; last.is != nil && last.key == k {
		return last.is
	}
	w := b.owned[k]
	if w == nil {
		w = &ownership{}
		b.owned[k] = w
	}
	o.by.last = lastOwnership{k, w}
	return w
}

func (b *holdTracker) invoked(o *op) {
	if o.recipe().HasPermits() {
		b.permitsInvoked(o)
		return
	}
	if o.unnamed {
		// If its process holds the lock, in whichever mode,
		// it means that one.
		for _, h := range o.by.holds {
			if h.lock == o.lock {
				o.owner = h.owner
			}
		}
	}
	w := b.ownership(o)
	switch {
	case o.acquires():
		o.again = w.hold
		for _, h := range o.by.holds {
			if h.lock == o.lock && h.owner == o.owner && h.mode != o.mode {
				o.beside = h
			}
		}
		if len(b.lostAt) > 0 {
			delete(b.lostAt, lockUse{o.process, o.lock, o.mode})
		}
	case o.kind == histories.Release:
		b.releasing(w, o)
	default:
		o.hold = w.hold
		o.stale = w.hold == nil && w.prev != nil && w.prev.why == byLoss
		return
	}
	for _, other := range w.open {
		other.shared, o.shared = true, true
	}
	w.open, o.filed = append(w.open, o), w
}

// releasing ends the belief when the outermost release is invoked, whatever
// becomes of it: from then on its owner does not act as a holder.
func (b *holdTracker) releasing(w *ownership, o *op) {
	h := w.hold
	none := histories.Token{}
	if h == nil || (o.token != none && h.token != none && o.token != h.token) {
		return // gives up a lease that is lost, or an older one
	}
	depth := o.depth
	if depth == 0 {
		depth = w.depth
	}
	o.hold = h
	if depth > 1 {
		h.inner = append(h.inner, innerRelease{o.invoke, o.call})
		w.depth = depth - 1
		return
	}
	b.finish(h, o.call, o.invoke, byRelease)
}

func (b *holdTracker) completed(o *op) {
	// An owner that only the completion names was filed under another one.
	if w := o.filed; w != nil {
		for i, p := range w.open {
			if p == o {
				w.open = append(w.open[:i], w.open[i+1:]...)
				break
			}
		}
	}
	if o.recipe().HasPermits() {
		b.permitsCompleted(o)
		return
	}
	w := b.ownership(o)
	switch {
	case o.kind == histories.Release && o.hold != nil:
		if o.hold.why == byRelease && o.hold.endEvent == o.invoke {
			if o.ok() {
				o.hold.released = o.ret
			}
		} else if o.result == histories.Fail && w.hold == o.hold {
			w.depth++ // the inner hold was not given up after all
		}
	case o.acquires() && o.ok():
		b.granted(w, o)
	}
}

// granted begins a hold or deepens one.
//
// Only ok matters. An acquire that failed, by a try that lost or by a timeout,
// constrains nothing: spurious failure is allowed, since a recipe may have to
// answer without knowing whether somebody is ahead.
func (b *holdTracker) granted(w *ownership, o *op) {
	if h := w.hold; h != nil {
		// The owner holds already, so this is a re-entry whatever it says.
		if want := w.depth + 1; o.depth != want && !o.shared {
			b.t.oddDeep = append(b.t.oddDeep, oddDepth{op: o, want: want})
		}
		w.depth = max(o.depth, w.depth+1)
		o.hold = h
		h.reentries = append(h.reentries, o)
		return
	}
	if o.depth > 1 {
		if p := w.prev; p != nil && p.end >= o.call {
			return // a re-entry that was under way when the hold ended: dead on arrival
		}
		// It believes to re-enter what it does not hold. That is a hold as
		// far as others are concerned.
		odd := oddDepth{op: o, want: 1}
		if p := w.prev; p != nil && p.why == byLoss {
			odd.lost = p
		}
		b.t.oddDeep = append(b.t.oddDeep, odd)
	}
	w.hold, w.depth = newHold(o), max(o.depth, 1)
	b.begin(w.hold, o)
}

// begin puts the hold that o has begun on record.
func (b *holdTracker) begin(h *hold, o *op) {
	o.hold = h
	b.t.holds = append(b.t.holds, h)
	o.by.holds = append(o.by.holds, h)
	// The lease may have been lost between its grant and the recording of it.
	if len(b.lostAt) == 0 {
		return
	}
	if l, ok := b.lostAt[lockUse{o.process, o.lock, o.mode}]; ok && about(&l, h) {
		b.finish(h, h.start, o.done, byLoss)
	}
}

func (b *holdTracker) lost(i int, e *histories.Event) {
	locks := locksOf(e)
	for _, lock := range locks {
		b.lostAt[lockUse{e.Process, lock, e.Mode}] = *e
	}
	for _, h := range slices.Clone(b.t.process(e.Process).holds) {
		if slices.Contains(locks, h.lock) && about(e, h) {
			b.finish(h, e.Time, i, byLoss)
		}
	}
}

// link notes whether the link of holds is up, as their client says.
func (b *holdTracker) link(e *histories.Event, up bool) {
	locks := locksOf(e)
	for _, h := range b.t.process(e.Process).holds {
		if slices.Contains(locks, h.lock) && about(e, h) {
			if h.cutOff = !up; up {
				h.linked = e.Time
			}
		}
	}
}

func (b *holdTracker) crashed(i int, e *histories.Event) {
	for _, h := range slices.Clone(b.t.process(e.Process).holds) {
		b.finish(h, e.Time, i, byCrashing)
	}
}

// closing ends the holds of a process that closes its client: it gives them back.
func (b *holdTracker) closing(i int, e *histories.Event) {
	p := b.t.process(e.Process)
	p.closing = slices.Clone(p.holds)
	for _, h := range p.closing {
		h.closed = true
		b.finish(h, e.Time, i, byRelease)
	}
}

// closed takes in that they are given back. A client that cannot reach its servers
// says so too, and leaves them the session; where no fault was about since the last
// grant it could.
func (b *holdTracker) closed(e *histories.Event) {
	p := b.t.process(e.Process)
	for _, h := range p.closing {
		if !slices.ContainsFunc(b.t.faults.all, func(f *faultSpan) bool { return f.stop >= h.call && f.hits(h.process) }) {
			h.released = e.Time
		}
	}
	p.closing = nil
}

func (b *holdTracker) finish(h *hold, at time.Duration, event int, why ending) {
	h.end, h.endEvent, h.why = at, event, why
	if w := b.owned[ownerKey{h.lock, h.owner, h.mode}]; w != nil && w.hold == h {
		w.hold, w.depth, w.prev = nil, 0, h
	}
	is := func(other *hold) bool { return other == h }
	h.by.holds = slices.DeleteFunc(h.by.holds, is)
	if len(b.apart[h.lock]) > 0 {
		b.apart[h.lock] = slices.DeleteFunc(b.apart[h.lock], is)
	}
	for _, l := range b.t.listeners {
		l.ended(h)
	}
}

// forget drops the owners that hold and want nothing. What an owner lost is
// remembered: it may act on it still.
func (b *holdTracker) forget() {
	for k, w := range b.owned {
		if w.hold == nil && len(w.open) == 0 && (w.prev == nil || w.prev.why != byLoss) {
			delete(b.owned, k)
		}
	}
	for _, p := range b.t.procs {
		p.last = lastOwnership{}
	}
}
