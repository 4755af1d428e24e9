package checker

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// forever is the time of what never happened.
const forever = time.Duration(math.MaxInt64)

// trace is a history taken apart, for all guarantees: operations paired with
// their completions, holds, faults, sessions and phases.
//
// It is built event by event. Judges look at it in windows: between two of them
// what has come to its end is dropped, see turn, so that a trace holds what is
// open and what came to its end in this window.
type trace struct {
	header histories.Header
	events []histories.Event // all of them, of a trace that is made of a whole history
	next   int               // index of the next event
	end    time.Duration     // of the last event
	before time.Duration     // of the last event of the window before; -1 in the first
	last   bool              // the history has come to its end
	ops    []*op             // by invocation
	holds  []*hold           // by start
	byLock map[string][]*hold
	locks  []string     // in order of appearance
	faults []*faultSpan // by start
	quiet  quiet
	pace   pace
	forced []*faultSpan // those that excuse beliefs: forced expiries, and pauses of their process

	forcing       []*faultSpan  // those of them that go on
	longestForced time.Duration // of the others

	expired map[string]time.Duration // session → first seen expired
	alive   map[string]time.Duration // session → an instant at which it had not ended: see proves
	told    []telling                // of this window: holders that were asked to release
	phases  map[string]time.Duration // phase → its start
	census  *histories.Event

	procs   []*process // in order of appearance
	recent  []recentOp // acquires that progress may ask for, see tries.go
	kept    int        // how many of them there were when they were last gone through
	oddDeep []oddDepth // re-entries at a wrong depth
	tally   tally
	free    *freeTries
	wakes   *wakeUps
	says    *sayings // nil if the target promises nothing of what it says

	held     *holdTracker
	byNumber map[int]*process
	active   map[int]*faultSpan
	known    map[string]*lockInfo
}

// process is what is known of a process.
type process struct {
	number  int
	owner   string        // of its operations that name none
	began   time.Duration // its first invocation; forever if it made none
	retired time.Duration // forever if it was not
	open    []*op
	holds   []*hold // that it has
	closing []*hold // that it gives back by closing its client
	last    lastOwnership
}

// gone reports whether p has come to its end.
func (p *process) gone() bool { return p.retired != forever }

// lockInfo is what each operation on a lock asks about it.
type lockInfo struct {
	recipe histories.Recipe
	use    *RecipeUse
	holds  []*hold // of this window
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

// newTrace takes h apart as a whole. h is valid.
func newTrace(h *histories.History) *trace {
	t := beginTrace(h.Header)
	t.events = h.Events
	for i := range h.Events {
		t.step(&h.Events[i])
	}
	t.close()
	return t
}

func beginTrace(header histories.Header) *trace {
	t := &trace{
		header: header, before: -1,
		expired: map[string]time.Duration{}, alive: map[string]time.Duration{}, phases: map[string]time.Duration{}, byNumber: map[int]*process{},
		quiet: quiet{least: header.SessionTimeout / 2}, active: map[int]*faultSpan{}, known: map[string]*lockInfo{}, byLock: map[string][]*hold{},
	}
	t.held = newHoldTracker(t)
	t.tally = newTally(t)
	t.free = newFreeTries(t)
	t.wakes = newWakeUps(t)
	if header.Promises.Says {
		t.says = newSayings(t)
	}
	return t
}

// step takes the next event in. It keeps no reference to e.
func (t *trace) step(e *histories.Event) {
	i := t.next
	t.next++
	t.end = e.Time
	t.wakes.event(e)
	switch e.Type {
	case histories.Invoke:
		for _, o := range t.invoke(i, e) {
			if o.held() {
				t.held.invoked(o)
			}
			t.free.invoked(o)
			t.wakes.invoked(o)
		}
	case histories.OK, histories.Fail, histories.Info:
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
			t.tally.completed(o)
			t.proves(o)
			t.free.completed(o, e)
			t.free.granted(o)
			t.wakes.completed(o)
			if t.says != nil {
				t.says.completed(o)
			}
		}
		p.open = nil
	case histories.Enqueued:
		t.quiet.answered(e.Time)
		for _, o := range t.process(e.Process).open {
			if o.acquires() && o.lock == e.Lock {
				o.places = append(o.places, place{i, e.Time, e.Token, e.Session})
				t.livedAt(e.Session, o.call)
				t.wakes.placed(o, e.Time)
				if t.says != nil {
					t.says.placed(o)
				}
			}
		}
	case histories.Lost:
		t.held.lost(i, e)
		for _, o := range t.process(e.Process).open {
			o.told = o.told || o.hold != nil && slices.Contains(locksOf(e), o.lock) && about(e, o.hold)
		}
	case histories.Suspended, histories.Resumed:
		t.held.link(e, e.Type == histories.Resumed)
	case histories.RevokeRequested:
		t.told = append(t.told, telling{*e, i})
	case histories.Closing:
		t.held.closing(i, e)
	case histories.Closed:
		t.held.closed(e)
	case histories.Crash:
		p := t.process(e.Process)
		p.retired = e.Time
		t.held.crashed(i, e)
		for _, o := range p.open {
			o.gone = true
		}
		p.open = nil
	case histories.Expired:
		if _, seen := t.expired[e.Session]; !seen {
			t.expired[e.Session] = e.Time
			t.tally.expired(e.Session)
			if t.says != nil {
				t.says.expired(e.Session, e.Time)
			}
		}
	case histories.FaultStart:
		fault := *e.Fault
		f := &faultSpan{Fault: &fault, start: e.Time, stop: forever, event: i}
		t.active[fault.ID] = f
		t.faults = append(t.faults, f)
		if f.excuses() {
			t.forced, t.forcing = append(t.forced, f), append(t.forcing, f)
		}
		t.tally.struck(f)
		t.pace.faulted(e.Time)
	case histories.FaultStop:
		f := t.active[e.Fault.ID]
		f.stop, f.failed = e.Time, e.Error != ""
		delete(t.active, e.Fault.ID)
		t.pace.healed(e.Time)
		if f.excuses() {
			t.forcing = slices.DeleteFunc(t.forcing, func(g *faultSpan) bool { return g == f })
			t.longestForced = max(t.longestForced, f.stop-f.start)
		}
	case histories.PhaseStart:
		t.pace.phase(e.Time, e.Phase == histories.PhaseChaos)
		if _, seen := t.phases[e.Phase]; !seen {
			t.phases[e.Phase] = e.Time
		}
	case histories.Says:
		if t.says != nil {
			t.says.said(i, e)
		}
	case histories.CensusDone:
		census := *e
		t.census = &census
	}
}

// look makes the trace ready to be looked at.
func (t *trace) look() {
	clear(t.byLock)
	for _, of := range t.known {
		of.holds = nil
	}
	for _, h := range t.holds {
		h.of.holds = append(h.of.holds, h)
	}
	for lock, of := range t.known {
		if len(of.holds) > 0 {
			t.byLock[lock] = of.holds
		}
	}
	for _, h := range t.holds {
		h.excuses = t.excuses(h)
	}
}

// close is look at the end of the history.
func (t *trace) close() {
	t.last = true
	t.keepRecent()
	t.look()
}

// settled reports whether no more will come of o. A window shows each operation
// as settled once.
func (t *trace) settled(o *op) bool { return t.last || o.done >= 0 || o.gone }

// over reports the same of a hold.
func (t *trace) over(h *hold) bool { return t.last || h.endEvent >= 0 }

// turn drops what has come to its end. The next event must be of a later time
// than the last one was, so that no two windows share an instant.
func (t *trace) turn() {
	t.before = t.end
	t.keepRecent()
	t.ops, t.holds = t.ops[:0], t.holds[:0]
	for _, p := range t.procs {
		t.ops, t.holds = append(t.ops, p.open...), append(t.holds, p.holds...)
	}
	slices.SortFunc(t.ops, func(a, b *op) int { return cmp.Or(a.invoke-b.invoke, a.part-b.part) })
	slices.SortFunc(t.holds, func(a, b *hold) int {
		return cmp.Or(a.acquire.done-b.acquire.done, a.acquire.part-b.acquire.part)
	})
	t.oddDeep, t.told = nil, nil
	t.held.turn()
}

// oldestAcquires returns a function that tells of a lock since when an acquire
// that is still under way has been: t.end if none is.
func (t *trace) oldestAcquires() func(lock string) time.Duration {
	oldest := map[string]time.Duration{}
	for _, p := range t.procs {
		for _, o := range p.open {
			if at, ok := oldest[o.lock]; o.acquires() && (!ok || o.call < at) {
				oldest[o.lock] = o.call
			}
		}
	}
	return func(lock string) time.Duration {
		if at, ok := oldest[lock]; ok {
			return at
		}
		return t.end
	}
}

// invoke begins the operation of e: one op, or one for each lock of several.
func (t *trace) invoke(i int, e *histories.Event) []*op {
	p := t.process(e.Process)
	p.began = min(p.began, e.Time)
	var ops []*op
	for part := range max(1, len(e.Parts)) {
		o := &op{
			process: e.Process, by: p, kind: e.Op, lock: e.Lock, part: part, parts: len(e.Parts), mode: e.Mode, owner: e.Owner, store: e.Store,
			invoke: i, done: -1, call: e.Time, ret: forever,
			depth: e.Depth, permits: max(e.Permits, 1), size: e.Size, generation: e.Generation, value: e.Value, token: e.Token, session: e.Session,
		}
		if e.Parts != nil {
			o.lock, o.token = e.Parts[part].Lock, e.Parts[part].Token
		}
		if o.owner == "" {
			o.owner, o.unnamed = p.owner, true
		}
		o.places = o.firstPlace[:0]
		o.of = t.known[o.lock]
		if o.of == nil {
			o.of = &lockInfo{recipe: t.recipe(o.lock)}
			o.of.use = t.tally.uses[o.of.recipe]
			t.known[o.lock] = o.of
			t.locks = append(t.locks, o.lock)
		}
		t.ops = append(t.ops, o)
		if part == 0 {
			ops = o.alone[:0] // most are: no slice of its own
		}
		o.alone[0] = o
		ops = append(ops, o)
	}
	t.tally.begun(ops[0])
	p.open = ops
	return ops
}
