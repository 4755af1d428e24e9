package facts

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// holdTracker follows the holds of all processes while the history is read in order.
type holdTracker struct {
	t       *Trace
	changed []*ownership          // in this window
	apart   map[permitChain]chain // open holds of semaphores
	lostAt  map[LockUse]histories.Event
}

func newHoldTracker(t *Trace) *holdTracker {
	return &holdTracker{t: t, apart: map[permitChain]chain{}, lostAt: map[LockUse]histories.Event{}}
}

// ownership returns the ownership of the owner that invoked o.
func (b *holdTracker) ownership(o *Op) *ownership {
	k := ownerKey{o.Owner, o.Mode}
	if last := o.By.last.is; last != nil && last.lock == o.info && last.key == k {
		return last
	}
	w := o.info.owned.of(k)
	if w == nil {
		w = &ownership{lock: o.info, key: k}
		o.info.owned.add(w)
	}
	b.change(w)
	o.By.last = lastOwnership{w}
	return w
}

func (b *holdTracker) invoked(o *Op) {
	if o.Recipe().HasPermits() {
		b.permitsInvoked(o)
		return
	}
	if o.unnamed {
		// If its process holds the lock, in any mode, the operation belongs to that owner.
		if last := o.info.held.of(&o.By.Holds).Last(); last != nil {
			o.Owner = last.Owner
		}
	}
	w := b.ownership(o)
	switch {
	case o.Acquires():
		o.Again = w.hold
		o.Beside = b.beside(o)
		if len(b.lostAt) > 0 {
			delete(b.lostAt, LockUse{o.Process, o.Lock, o.Mode})
		}
	case o.Kind == histories.Release:
		b.releasing(w, o)
	default:
		o.Hold = w.hold
		o.Stale = w.hold == nil && w.prev != nil && w.prev.Why == ByLoss
		return
	}
	switch w.open {
	case 0:
		w.first = o
	case 1:
		w.first.shared, o.shared = true, true
	default:
		o.shared = true // as all the others are
	}
	w.open++
	o.filed = w
}

// beside returns the last hold on the lock of o, in another mode, that the owner of o has
// through the same process.
func (b *holdTracker) beside(o *Op) (last *Hold) {
	if o.info.held.of(&o.By.Holds).First == nil {
		return nil
	}
	for _, mode := range []histories.Mode{"", histories.ModeRead, histories.ModeWrite} {
		if mode == o.Mode {
			continue
		}
		if w := o.info.owned.of(ownerKey{o.Owner, mode}); w != nil && w.hold != nil && w.hold.By == o.By && (last == nil || w.hold.Acquire.Done > last.Acquire.Done) {
			last = w.hold
		}
	}
	return last
}

// releasing ends the belief when the outermost release is invoked, whether or not it succeeds:
// from then on its owner does not act as a holder.
func (b *holdTracker) releasing(w *ownership, o *Op) {
	h := w.hold
	none := histories.Token{}
	if h == nil || (o.Token != none && h.Token != none && o.Token != h.Token) {
		return // releases a lease that is lost, or an older one
	}
	depth := o.Depth
	if depth == 0 {
		depth = w.depth
	}
	o.Hold = h
	if depth > 1 {
		m := h.meanwhile()
		m.inner = append(m.inner, InnerRelease{o.Invoke, o.Call})
		w.depth = depth - 1
		return
	}
	b.finish(h, o.Call, o.Invoke, ByRelease)
}

func (b *holdTracker) completed(o *Op) {
	// An operation whose owner only the completion names was filed under another owner.
	if w := o.filed; w != nil {
		b.change(w)
		w.open--
		o.filed = nil
	}
	if o.Recipe().HasPermits() {
		b.permitsCompleted(o)
		return
	}
	w := b.ownership(o)
	switch {
	case o.Kind == histories.Release && o.Hold != nil:
		if o.Hold.Why == ByRelease && o.Hold.EndEvent == o.Invoke {
			if o.OK() {
				o.Hold.Released = o.Ret
			}
		} else if o.Result == histories.Fail && w.hold == o.Hold {
			w.depth++ // the inner hold was not released after all
		}
	case o.Acquires() && o.OK():
		b.granted(w, o)
	}
}

// granted begins a hold or deepens one.
//
// Only an ok answer counts. An acquire that failed, because a try lost or a timeout passed,
// constrains nothing: spurious failure is allowed, since a recipe may have to answer without
// knowing whether another contender is ahead.
func (b *holdTracker) granted(w *ownership, o *Op) {
	if h := w.hold; h != nil {
		// The owner holds already, so this is a re-entry at any depth that it reports.
		if want := w.depth + 1; o.Depth != want && !o.shared {
			b.t.OddDeep = append(b.t.OddDeep, OddDepth{Op: o, Want: want})
		}
		w.depth = max(o.Depth, w.depth+1)
		o.Hold = h
		m := h.meanwhile()
		m.reentries = append(m.reentries, o)
		return
	}
	if o.Depth > 1 {
		if p := w.prev; p != nil && p.End >= o.Call {
			return // a re-entry that was under way when the hold ended: it holds nothing
		}
		// The owner believes that it re-enters a hold that it does not have. For other
		// clients that is a hold.
		odd := OddDepth{Op: o, Want: 1}
		if p := w.prev; p != nil && p.Why == ByLoss {
			odd.Lost = p
		}
		b.t.OddDeep = append(b.t.OddDeep, odd)
	}
	w.hold, w.depth = newHold(o), max(o.Depth, 1)
	b.begin(w.hold, o)
}

// begin records the hold that o began.
func (b *holdTracker) begin(h *Hold, o *Op) {
	o.Hold = h
	o.info.Granted, o.info.GrantedTo = h.Start, h.Process
	b.t.Holds = append(b.t.Holds, h)
	o.By.Holds.add(h)
	for _, l := range b.t.listeners {
		l.Began(h)
	}
	// The lease may have been lost between its grant and the record of the grant.
	if len(b.lostAt) == 0 {
		return
	}
	if l, ok := b.lostAt[LockUse{o.Process, o.Lock, o.Mode}]; ok && about(&l, h) {
		b.finish(h, h.Start, o.Done, ByLoss)
	}
}

func (b *holdTracker) lost(i int, e *histories.Event) {
	for _, lock := range LocksOf(e) {
		b.lostAt[LockUse{e.Process, lock, e.Mode}] = *e
		for h := range b.meant(e, lock) {
			b.finish(h, e.Time, i, ByLoss)
		}
	}
}

// link records whether the link of the holds that an event means is up, as their client reports
// it.
func (b *holdTracker) link(e *histories.Event, up bool) {
	for _, lock := range LocksOf(e) {
		for h := range b.meant(e, lock) {
			h.linked(e.Time, up)
		}
	}
}

// linked records whether the link of a hold is up from a time on.
func (h *Hold) linked(at time.Duration, up bool) {
	m := h.meanwhile()
	n, down, _ := h.Outages()
	switch {
	case up && down:
		m.outages[n-1].To = at
	case up:
		m.outages = append(m.outages, Span{h.Start, at}) // it was down when the hold began
	case !down:
		m.outages = append(m.outages, Span{at, Forever})
	}
}

// Outages returns the number of outages of the hold's link, by its client's reports, whether the
// link is down now, and when it last went down or came back.
func (h *Hold) Outages() (n int, down bool, since time.Duration) {
	all := h.outages()
	if n = len(all); n == 0 {
		return 0, false, 0
	}
	last := all[n-1]
	if down = last.To == Forever; down {
		return n, true, last.From
	}
	return n, false, last.To
}

func (b *holdTracker) crashed(i int, e *histories.Event) {
	for h := range b.t.Process(e.Process).Holds.All() {
		b.finish(h, e.Time, i, ByCrashing)
	}
}

// closing ends the holds of a process that closes its client, which releases them.
func (b *holdTracker) closing(i int, e *histories.Event) {
	p := b.t.Process(e.Process)
	p.closing = slices.Collect(p.Holds.All())
	for _, h := range p.closing {
		h.Closed = true
		b.finish(h, e.Time, i, ByRelease)
	}
}

// closed records that the holds of a closed client are released. A client that cannot reach its
// servers closes too, and leaves the session to them. If no fault struck since the last grant,
// the client could reach them.
func (b *holdTracker) closed(e *histories.Event) {
	p := b.t.Process(e.Process)
	for _, h := range p.closing {
		if !b.t.Faults.Struck(h.Process, h.Call, Forever) {
			h.Released = e.Time
		}
	}
	p.closing = nil
}

func (b *holdTracker) finish(h *Hold, at time.Duration, event int, why ending) {
	h.End, h.EndEvent, h.Why = at, event, why
	if w := h.info.owned.of(ownerKey{h.Owner, h.Mode}); w != nil && w.hold == h {
		b.change(w)
		w.hold, w.depth, w.prev = nil, 0, h
	}
	b.t.touch(h.info)
	h.By.Holds.remove(h)
	if h.permitLinks != nil {
		b.apartRemove(h)
	}
	for _, l := range b.t.listeners {
		l.Ended(h)
	}
}

// forget drops the owners that neither hold nor wait. An owner that lost its hold is kept: it
// may still act on it.
func (b *holdTracker) forget() {
	for _, w := range b.changed {
		w.changed = false
		if w.hold == nil && w.open == 0 && (w.prev == nil || w.prev.Why != ByLoss) {
			w.lock.owned.drop(w)
		}
	}
	b.changed = b.changed[:0]
}

// change records that an ownership changes in this window.
func (b *holdTracker) change(w *ownership) {
	if !w.changed {
		w.changed = true
		b.changed = append(b.changed, w)
	}
}
