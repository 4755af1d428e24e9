package checker

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// forever is the time of what never happened.
const forever = time.Duration(math.MaxInt64)

// trace is a history taken apart once, for all guarantees: operations paired
// with their completions, holds, faults, sessions and phases.
type trace struct {
	h      *histories.History
	end    time.Duration // of the last event
	ops    []*op         // by invocation
	holds  []*hold       // by start
	locks  []string      // in order of appearance
	faults []*faultSpan  // by start

	expired map[string]time.Duration // session → first seen expired
	phases  map[string]time.Duration // phase → its start
	census  *histories.Event

	retired map[int]time.Duration // process → when
	procs   []int                 // processes that invoked anything, in order of appearance
	invoked int                   // operations; ops has one for each part of one over several locks
	oddDeep []oddDepth            // re-entries at a wrong depth
}

// op is one operation.
type op struct {
	process int
	kind    histories.Op
	lock    string
	part    int // of an operation over several locks: 0 is the first
	mode    histories.Mode
	owner   string
	store   string
	invoke  int // event index
	done    int // event index, or -1
	call    time.Duration
	ret     time.Duration  // forever when unanswered
	result  histories.Type // "" when unanswered
	depth   int
	value   int64
	token   histories.Token
	session string

	places []place // for acquires: what enqueued said while it was open
	hold   *hold   // for reads and writes, and acquires that began one: the hold it belongs to
	again  *hold   // for acquires: what its owner held already
	filed  *ownership
	stale  bool // a read or write of a process that had been told of its loss
	shared bool // another operation of the same owner on the same lock was open meanwhile
}

type place struct {
	event   int
	time    time.Duration
	token   histories.Token
	session string
}

func (o *op) acquires() bool { return o.kind == histories.Acquire || o.kind == histories.TryAcquire }
func (o *op) ok() bool       { return o.result == histories.OK }

// passes reports whether o asks to pass a barrier.
func (o *op) passes() bool {
	return o.kind == histories.Wait || o.kind == histories.Enter || o.kind == histories.Leave
}

// held reports whether o is about what its owner holds.
func (o *op) held() bool {
	return o.acquires() || o.kind == histories.Release || o.kind == histories.Read || o.kind == histories.Write
}

func (o *op) party() Party {
	e := o.done
	if e < 0 {
		e = o.invoke
	}
	return Party{
		Process: o.process, Owner: o.owner, Session: o.session, Token: o.token,
		From: o.call, To: o.ret, Open: o.ret == forever, Event: e, Line: histories.Line(e), Invoke: o.invoke,
	}
}

// faultSpan is one fault from start to stop.
type faultSpan struct {
	*histories.Fault
	start, stop time.Duration
	event       int
}

func (f *faultSpan) hits(process int) bool {
	return len(f.Processes) == 0 || slices.Contains(f.Processes, process)
}

// defaultOwner is the owner of an operation that names none: its process.
func defaultOwner(process int) string { return "process " + strconv.Itoa(process) }

// newTrace takes h apart. h is valid.
func newTrace(h *histories.History) *trace {
	t := &trace{
		h: h, expired: map[string]time.Duration{}, phases: map[string]time.Duration{}, retired: map[int]time.Duration{},
	}
	b := newHoldTracker(t)
	open := map[int][]*op{}
	active := map[int]*faultSpan{}
	for i := range h.Events {
		e := &h.Events[i]
		t.end = e.Time
		switch e.Type {
		case histories.Invoke:
			t.invoked++
			open[e.Process] = t.invoke(i, e)
			for _, o := range open[e.Process] {
				if o.held() {
					b.invoked(o)
				}
			}
		case histories.OK, histories.Fail, histories.Info:
			if e.Type == histories.Info {
				t.retired[e.Process] = e.Time
			}
			for _, o := range open[e.Process] {
				o.complete(i, e)
				if o.held() {
					b.completed(o)
				}
			}
			delete(open, e.Process)
		case histories.Enqueued:
			for _, o := range open[e.Process] {
				if o.acquires() && o.lock == e.Lock {
					o.places = append(o.places, place{i, e.Time, e.Token, e.Session})
				}
			}
		case histories.Lost:
			b.lost(i, e)
		case histories.Crash:
			t.retired[e.Process] = e.Time
			b.crashed(i, e)
		case histories.Expired:
			if _, seen := t.expired[e.Session]; !seen {
				t.expired[e.Session] = e.Time
			}
		case histories.FaultStart:
			f := &faultSpan{e.Fault, e.Time, forever, i}
			active[e.Fault.ID] = f
			t.faults = append(t.faults, f)
		case histories.FaultStop:
			active[e.Fault.ID].stop = e.Time
			delete(active, e.Fault.ID)
		case histories.PhaseStart:
			if _, seen := t.phases[e.Phase]; !seen {
				t.phases[e.Phase] = e.Time
			}
		case histories.CensusDone:
			t.census = e
		}
	}
	for _, h := range t.holds {
		h.excuses = t.excuses(h)
	}
	return t
}

// invoke begins the operation of e: one op, or one for each lock of several.
func (t *trace) invoke(i int, e *histories.Event) []*op {
	if !slices.Contains(t.procs, e.Process) {
		t.procs = append(t.procs, e.Process)
	}
	var ops []*op
	for part, lock := range locksOf(e) {
		o := &op{
			process: e.Process, kind: e.Op, lock: lock, part: part, mode: e.Mode, owner: e.Owner, store: e.Store,
			invoke: i, done: -1, call: e.Time, ret: forever,
			depth: e.Depth, value: e.Value, token: e.Token, session: e.Session,
		}
		if e.Parts != nil {
			o.token = e.Parts[part].Token
		}
		if o.owner == "" {
			o.owner = defaultOwner(e.Process)
		}
		if !slices.Contains(t.locks, o.lock) {
			t.locks = append(t.locks, o.lock)
		}
		t.ops, ops = append(t.ops, o), append(ops, o)
	}
	return ops
}

// locksOf returns the locks that e is about.
func locksOf(e *histories.Event) []string {
	if e.Parts == nil {
		return []string{e.Lock}
	}
	var locks []string
	for _, p := range e.Parts {
		locks = append(locks, p.Lock)
	}
	return locks
}

func (o *op) complete(i int, e *histories.Event) {
	o.done, o.ret, o.result = i, e.Time, e.Type
	if e.Owner != "" {
		o.owner = e.Owner
	}
	if e.Depth != 0 {
		o.depth = e.Depth
	}
	if e.Parts != nil {
		o.token = e.Parts[o.part].Token
	} else if e.Token != (histories.Token{}) {
		o.token = e.Token
	}
	if e.Session != "" {
		o.session = e.Session
	}
	if o.kind == histories.Read || e.Value != 0 {
		o.value = e.Value
	}
}
