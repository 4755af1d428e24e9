package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// trace is a history taken apart, for all guarantees: operations paired with
// their completions, holds, faults, sessions and phases.
//
// It is built event by event. Judges look at it in windows: between two of them
// what has come to its end is dropped, see discardSettled, so that a trace holds
// what is open and what came to its end in this window.
type trace struct {
	header histories.Header
	events []histories.Event // all of them, of a trace that is made of a whole history
	next   int               // index of the next event
	end    time.Duration     // of the last event
	before time.Duration     // of the last event of the window before; -1 in the first
	last   bool              // the history has come to its end

	ops     []*op           // of this window, by invocation
	holds   []*hold         // of this window, by start
	oddDeep []oddDepth      // of this window: re-entries at a wrong depth
	notices []releaseNotice // of this window: holders that were asked to release

	byLock map[string][]*hold // holds of this window, by lock
	locks  []string           // in order of appearance
	procs  []*process         // in order of appearance
	phases map[string]time.Duration
	census *histories.Event

	faults   faultLog
	sessions sessionLog
	quiet    quiet
	pace     pace

	held      *holdTracker
	byNumber  map[int]*process
	known     map[string]*lockInfo
	listeners []listener
}

// releaseNotice is an event by which a process was told that somebody asks it to
// release.
type releaseNotice struct {
	histories.Event
	n int // index of the event
}

// newTrace takes h apart as a whole. h is valid.
func newTrace(h *histories.History) *trace {
	t := beginTrace(h.Header)
	t.read(h)
	return t
}

// beginTrace returns the trace of a history of which no event has been read.
func beginTrace(header histories.Header) *trace {
	t := &trace{
		header: header, before: -1,
		phases: map[string]time.Duration{}, byNumber: map[int]*process{}, known: map[string]*lockInfo{}, byLock: map[string][]*hold{},
		quiet: quiet{least: header.SessionTimeout / 2}, faults: newFaultLog(&header), sessions: newSessionLog(),
	}
	t.held = newHoldTracker(t)
	return t
}

// listen makes l hear what is read from now on.
func (t *trace) listen(l listener) { t.listeners = append(t.listeners, l) }

// read takes in a whole history.
func (t *trace) read(h *histories.History) {
	t.events = h.Events
	for i := range h.Events {
		t.step(&h.Events[i])
	}
	t.close()
}

// step takes the next event in. It keeps no reference to e.
func (t *trace) step(e *histories.Event) {
	i := t.next
	t.next++
	t.end = e.Time
	for _, l := range t.listeners {
		l.event(i, e)
	}
	switch e.Type {
	case histories.Invoke:
		t.invoke(i, e)
	case histories.OK, histories.Fail, histories.Info:
		t.complete(i, e)
	case histories.Enqueued:
		t.enqueued(i, e)
	case histories.Lost:
		t.held.lost(i, e)
		for _, o := range t.process(e.Process).open {
			o.told = o.told || o.hold != nil && slices.Contains(locksOf(e), o.lock) && about(e, o.hold)
		}
	case histories.Suspended, histories.Resumed:
		t.held.link(e, e.Type == histories.Resumed)
	case histories.RevokeRequested:
		t.notices = append(t.notices, releaseNotice{*e, i})
	case histories.Closing:
		t.held.closing(i, e)
	case histories.Closed:
		t.held.closed(e)
	case histories.Crash:
		t.crash(i, e)
	case histories.Expired:
		t.sessions.expire(e.Session, e.Time)
	case histories.FaultStart:
		t.faults.begin(i, e)
		t.pace.faulted(e.Time)
	case histories.FaultStop:
		t.faults.stop(e)
		t.pace.healed(e.Time)
	case histories.PhaseStart:
		t.pace.phase(e.Time, e.Phase == histories.PhaseChaos)
		if _, seen := t.phases[e.Phase]; !seen {
			t.phases[e.Phase] = e.Time
		}
	case histories.CensusDone:
		census := *e
		t.census = &census
	}
}

// process returns what is known of a process.
func (t *trace) process(number int) *process {
	p := t.byNumber[number]
	if p == nil {
		p = &process{number: number, owner: defaultOwner(number), began: forever, retired: forever}
		t.byNumber[number] = p
		t.procs = append(t.procs, p)
	}
	return p
}

// invoke begins the operation of e: one op, or one for each lock of several.
func (t *trace) invoke(i int, e *histories.Event) {
	p := t.process(e.Process)
	p.began = min(p.began, e.Time)
	var ops []*op
	for part := range max(1, len(e.Parts)) {
		o := newOp(i, e, part, p)
		o.info = t.info(o.lock)
		if part == 0 {
			ops = o.alone[:0] // most are: no slice of its own
			o.info.operations++
		}
		o.alone[0] = o
		ops = append(ops, o)
	}
	t.ops = append(t.ops, ops...)
	p.open = ops
	for _, o := range ops {
		if o.held() {
			t.held.invoked(o)
		}
		for _, l := range t.listeners {
			l.invoked(o)
		}
	}
}

func (t *trace) complete(i int, e *histories.Event) {
	p := t.process(e.Process)
	if e.Type == histories.Info {
		p.retired = e.Time
	} else {
		t.pace.answered(e.Time)
	}
	t.quiet.completed(e)
	for _, o := range p.open {
		o.complete(i, e)
		if o.held() {
			t.held.completed(o)
		}
		if o.part == 0 && o.ok() && o.progresses() {
			o.info.got++
		}
		t.sessions.proves(o)
		for _, l := range t.listeners {
			l.completed(o)
		}
	}
	p.open = nil
}

func (t *trace) enqueued(i int, e *histories.Event) {
	t.quiet.answered(e.Time)
	for _, o := range t.process(e.Process).open {
		if !o.acquires() || o.lock != e.Lock {
			continue
		}
		o.places = append(o.places, place{i, e.Time, e.Token, e.Session})
		t.sessions.livedAt(e.Session, o.call)
		for _, l := range t.listeners {
			l.placed(o)
		}
	}
}

func (t *trace) crash(i int, e *histories.Event) {
	p := t.process(e.Process)
	p.retired = e.Time
	t.held.crashed(i, e)
	for _, o := range p.open {
		o.gone = true
	}
	p.open = nil
}

// beginWindow makes what was read since the last window ready to be looked at.
func (t *trace) beginWindow() {
	clear(t.byLock)
	for _, lock := range t.known {
		lock.holds = nil
	}
	for _, h := range t.holds {
		h.info.holds = append(h.info.holds, h)
	}
	for lock, info := range t.known {
		if len(info.holds) > 0 {
			t.byLock[lock] = info.holds
		}
	}
	for _, h := range t.holds {
		h.excuses = t.faults.excuses(h)
	}
}

// close begins the last window, at the end of the history.
func (t *trace) close() {
	t.last = true
	t.beginWindow()
}

// settled reports whether no more will come of o. A window shows each operation
// as settled once.
func (t *trace) settled(o *op) bool { return t.last || o.done >= 0 || o.gone }

// over reports the same of a hold.
func (t *trace) over(h *hold) bool { return t.last || h.endEvent >= 0 }

// begun reports whether h began in this window.
func (t *trace) begun(h *hold) bool { return h.start > t.before }

// discardSettled ends a window: it drops what has come to its end. The next event
// must be of a later time than the last one was, so that no two windows share an
// instant.
func (t *trace) discardSettled() {
	t.before = t.end
	t.ops, t.holds = t.ops[:0], t.holds[:0]
	for _, p := range t.procs {
		t.ops, t.holds = append(t.ops, p.open...), append(t.holds, p.holds...)
	}
	slices.SortFunc(t.ops, func(a, b *op) int { return cmp.Or(a.invoke-b.invoke, a.part-b.part) })
	slices.SortFunc(t.holds, func(a, b *hold) int {
		return cmp.Or(a.acquire.done-b.acquire.done, a.acquire.part-b.acquire.part)
	})
	t.oddDeep, t.notices = nil, nil
	t.held.forget()
}

// lifetime is how long a session can live on without its client.
func (t *trace) lifetime() time.Duration { return max(t.header.SessionTimeout, time.Second) }

// calm is how long it takes until what a fault has set in motion is over.
func (t *trace) calm() time.Duration { return 2 * t.header.SessionTimeout }
