package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// hold is one belief: from the moment an outermost acquire returned to the
// moment its owner knew better.
type hold struct {
	lock, owner, session string
	of                   *lockInfo
	by                   *process
	mode                 histories.Mode
	process              int
	permits              int // of a semaphore
	token                histories.Token
	call, start, end     time.Duration // acquire invoked, acquire returned, belief ended
	acquire              *op
	released             time.Duration // when the release was answered ok; forever otherwise
	why                  ending
	closed               bool // it was given back by closing the client
	endEvent             int  // index of the event that ended it, or -1
	inner                []innerRelease
	reentries            []*op
	excuses              []span        // when the belief does not count
	cutOff               bool          // its client has said that its link is down
	linked               time.Duration // when its client last said that its link is up again
}

type ending string

const (
	stillHeld  ending = ""
	byRelease  ending = "released"
	byLoss     ending = "lost"
	byCrashing ending = "crashed"
)

type innerRelease struct {
	event int
	time  time.Duration
}

// span is a closed interval of time.
type span struct{ from, to time.Duration }

// oddDepth is a re-entry whose depth is not the one above what its owner held.
type oddDepth struct {
	op   *op
	want int
	lost *hold // what its owner had lost, if that is what it has acquired again
}

func (h *hold) party() Party {
	return Party{
		Process: h.process, Owner: h.owner, Session: h.session, Token: h.token, From: h.start, To: h.end,
		Open: h.end == forever, Event: h.acquire.done, Line: histories.Line(h.acquire.done), Invoke: h.acquire.invoke,
	}
}

// holdTracker follows who holds what while the history is read in order.
type holdTracker struct {
	t      *trace
	owned  map[ownerKey]*ownership
	apart  map[string][]*hold // open holds of a semaphore
	lostAt map[procKey]histories.Event
}

type ownerKey struct {
	lock, owner string
	mode        histories.Mode
}

type procKey struct {
	process int
	lock    string
	mode    histories.Mode
}

type ownership struct {
	hold  *hold // nil when the owner holds nothing
	depth int
	prev  *hold // the last hold that ended
	open  []*op // open acquires and releases of this owner
}

// lastOwnership is the one that a process asked for last: most often the one that
// it asks for next.
type lastOwnership struct {
	key ownerKey
	of  *ownership
}

func newHoldTracker(t *trace) *holdTracker {
	return &holdTracker{t, map[ownerKey]*ownership{}, map[string][]*hold{}, map[procKey]histories.Event{}}
}

func (b *holdTracker) of(o *op) *ownership {
	k := ownerKey{o.lock, o.owner, o.mode}
	if last := &o.by.last; last.of != nil && last.key == k {
		return last.of
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
	if o.of.recipe.HasPermits() {
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
	w := b.of(o)
	switch {
	case o.acquires():
		o.again = w.hold
		for _, h := range o.by.holds {
			if h.lock == o.lock && h.owner == o.owner && h.mode != o.mode {
				o.beside = h
			}
		}
		if len(b.lostAt) > 0 {
			delete(b.lostAt, procKey{o.process, o.lock, o.mode})
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
	if o.of.recipe.HasPermits() {
		b.permitsCompleted(o)
		return
	}
	w := b.of(o)
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

func newHold(o *op) *hold {
	return &hold{
		lock: o.lock, of: o.of, by: o.by, mode: o.mode, owner: o.owner, session: o.session, process: o.process, permits: o.permits, token: o.token,
		call: o.call, start: o.ret, end: forever, released: forever, acquire: o, endEvent: -1,
	}
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
	if l, ok := b.lostAt[procKey{o.process, o.lock, o.mode}]; ok && about(&l, h) {
		b.finish(h, h.start, o.done, byLoss)
	}
}

// about reports whether a lost event can mean h. One that names no lease means
// whichever its process holds.
func about(e *histories.Event, h *hold) bool {
	none := histories.Token{}
	return (e.Session == "" || h.session == "" || e.Session == h.session) &&
		(e.Token == none || h.token == none || e.Token == h.token) &&
		(e.Owner == "" || e.Owner == h.owner) && e.Mode == h.mode
}

func (b *holdTracker) lost(i int, e *histories.Event) {
	locks := locksOf(e)
	for _, lock := range locks {
		b.lostAt[procKey{e.Process, lock, e.Mode}] = *e
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
		if !slices.ContainsFunc(b.t.faults, func(f *faultSpan) bool { return f.stop >= h.call && f.hits(h.process) }) {
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
	b.t.tally.ended(h)
}

// turn forgets the owners that hold and want nothing. What an owner lost is
// remembered: it may act on it still.
func (b *holdTracker) turn() {
	for k, w := range b.owned {
		if w.hold == nil && len(w.open) == 0 && (w.prev == nil || w.prev.why != byLoss) {
			delete(b.owned, k)
		}
	}
	for _, p := range b.t.procs {
		p.last = lastOwnership{}
	}
}
