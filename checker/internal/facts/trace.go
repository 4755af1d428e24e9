package facts

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Trace holds the facts of a history for all guarantees: operations paired with their
// completions, holds, faults, sessions and phases.
//
// It is built event by event. Judges read it in windows. Between two windows, operations and
// holds that have ended are dropped, see DiscardSettled, so a trace holds those that are open
// and those that ended in this window.
type Trace struct {
	Header histories.Header
	Events []histories.Event // all events, if the trace is made of a whole history
	Next   int               // index of the next event
	End    time.Duration     // the time of the last event
	before time.Duration     // the time of the last event of the previous window; -1 in the first
	Last   bool              // the history has ended

	Ops     []*Op           // of this window, by invocation
	Holds   []*Hold         // of this window, by start
	OddDeep []OddDepth      // of this window: re-entries at a wrong depth
	Notices []ReleaseNotice // of this window: requests to release that reached holders

	Processes []*Process // in order of appearance
	Phases    map[string]time.Duration
	Census    *histories.Event

	Faults   FaultLog
	Sessions SessionLog
	Service  *Service    // nil if the servers' log is not known
	Stop     func() bool // reports whether judging is to stop without a result; nil: never
	Quiet    Quiet
	Pace     pace

	held      *holdTracker
	byNumber  map[int]*Process
	busy      []*Process // processes with an open operation or a hold
	known     map[string]*LockInfo
	latest    *LockInfo   // that Info returned
	infos     []*LockInfo // in order of appearance
	touched   []*LockInfo // with an event in this window; in the last one, all
	listeners []listener
}

// ReleaseNotice is an event by which a process was told that another client asks it to release.
type ReleaseNotice struct {
	histories.Event
	N    int    // index of the event
	Name string // of its process
}

// Of returns the trace of a whole history. h is valid.
func Of(h *histories.History) *Trace {
	t := Begin(h.Header)
	t.Read(h)
	return t
}

// Begin returns the trace of a history of which no event has been read.
func Begin(header histories.Header) *Trace {
	t := &Trace{
		Header: header, before: -1,
		Phases: map[string]time.Duration{}, byNumber: map[int]*Process{}, known: map[string]*LockInfo{},
		Quiet: Quiet{Least: header.SessionTimeout / 2}, Faults: newFaultLog(&header), Sessions: newSessionLog(),
	}
	t.held = newHoldTracker(t)
	return t
}

// Listen calls l with the events and facts that are read from now on.
func (t *Trace) Listen(l listener) { t.listeners = append(t.listeners, l) }

// Read takes in a whole history.
func (t *Trace) Read(h *histories.History) {
	t.Events = h.Events
	for i := range h.Events {
		t.Step(&h.Events[i])
	}
	t.Close()
}

// Step takes in the next event. It keeps no reference to e.
func (t *Trace) Step(e *histories.Event) {
	i := t.Next
	t.Next++
	t.End = e.Time
	for _, l := range t.listeners {
		l.Event(i, e)
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
		for _, lock := range LocksOf(e) {
			for _, o := range t.Process(e.Process).OpenOn(lock) {
				o.Told = o.Told || o.Hold != nil && about(e, o.Hold)
			}
		}
	case histories.Suspended, histories.Resumed:
		t.held.link(e, e.Type == histories.Resumed)
	case histories.RevokeRequested:
		t.Notices = append(t.Notices, ReleaseNotice{*e, i, t.Header.Name(e.Process)})
	case histories.Closing:
		t.held.closing(i, e)
	case histories.Closed:
		t.held.closed(e)
	case histories.Crash:
		t.crash(i, e)
	case histories.Expired:
		t.Sessions.expire(e.Session, e.Time)
	case histories.FaultStart:
		t.Faults.begin(i, e)
		t.Pace.faulted(e.Time)
	case histories.FaultStop:
		t.Faults.stop(e)
		t.Pace.healed(e.Time)
	case histories.Stalled:
		t.Faults.stalled(i, e)
	case histories.PhaseStart:
		t.Pace.phase(e.Time, e.Phase == histories.PhaseChaos)
		if _, seen := t.Phases[e.Phase]; !seen {
			t.Phases[e.Phase] = e.Time
		}
	case histories.CensusDone:
		census := *e
		t.Census = &census
	}
}

// Process returns the facts of a process.
func (t *Trace) Process(number int) *Process {
	p := t.byNumber[number]
	if p == nil {
		p = &Process{Number: number, Name: t.Header.Name(number), owner: defaultOwner(number), Began: Forever, Retired: Forever}
		t.byNumber[number] = p
		t.Processes = append(t.Processes, p)
	}
	return p
}

// invoke begins the operation of e: one Op, or one for each of its locks.
func (t *Trace) invoke(i int, e *histories.Event) {
	p := t.Process(e.Process)
	p.Began = min(p.Began, e.Time)
	var ops []*Op
	for part := range max(1, len(e.Parts)) {
		o := newOp(i, e, part, p)
		o.info = t.Info(o.Lock)
		if part == 0 {
			ops = o.alone[:0] // most operations have one part: no slice of its own
			o.info.Operations++
		}
		o.alone[0] = o
		ops = append(ops, o)
	}
	if len(ops) > 1 && slices.ContainsFunc(ops, func(o *Op) bool { return o.Recipe() == histories.NonReentrant }) {
		for _, o := range ops {
			o.Mixed = true
		}
	}
	t.Ops = append(t.Ops, ops...)
	p.begins(ops)
	if !p.busy {
		p.busy = true
		t.busy = append(t.busy, p)
	}
	for _, o := range ops {
		t.touch(o.info)
		if o.held() {
			t.held.invoked(o)
		}
		for _, l := range t.listeners {
			l.Invoked(o)
		}
	}
}

func (t *Trace) complete(i int, e *histories.Event) {
	p := t.Process(e.Process)
	if e.Type == histories.Info {
		p.Retired = e.Time
	} else {
		t.Pace.answered(e.Time)
	}
	t.Quiet.Completed(e)
	for _, o := range p.Open {
		t.touch(o.info)
		o.complete(i, e)
		if o.held() {
			t.held.completed(o)
		}
		if o.Part == 0 && o.OK() && o.Progresses() {
			o.info.Got++
		}
		t.Sessions.proves(o)
		for _, l := range t.listeners {
			l.Completed(o)
		}
	}
	p.begins(nil)
}

func (t *Trace) enqueued(i int, e *histories.Event) {
	t.Quiet.Answered(e.Time)
	for _, o := range t.Process(e.Process).OpenOn(e.Lock) {
		if !o.Acquires() {
			continue
		}
		t.touch(o.info)
		o.Places = append(o.Places, Place{i, e.Time, e.Token, e.Sequence, e.Session})
		t.Sessions.livedAt(e.Session, o.Call)
		for _, l := range t.listeners {
			l.Placed(o)
		}
	}
}

func (t *Trace) crash(i int, e *histories.Event) {
	p := t.Process(e.Process)
	p.Retired = e.Time
	t.held.crashed(i, e)
	for _, o := range p.Open {
		t.touch(o.info)
		o.Gone = true
	}
	p.begins(nil)
}

// BeginWindow prepares the facts that were read since the last window for the judges.
func (t *Trace) BeginWindow() {
	slices.SortFunc(t.touched, func(a, b *LockInfo) int { return a.at - b.at })
	if t.Last {
		t.touched = t.infos
	}
	for i, h := range t.Holds {
		if i%stopEvery == 0 && t.stops() {
			return
		}
		if h.info.touched || t.Last {
			h.info.holds = append(h.info.holds, h)
			h.Excuses = t.Faults.Excuses(h)
		}
	}
}

// Close begins the last window, at the end of the history.
func (t *Trace) Close() {
	t.Last = true
	t.BeginWindow()
}

// Settled reports whether o can change no more. Each operation is shown as settled in one
// window only.
func (t *Trace) Settled(o *Op) bool { return t.Last || o.Done >= 0 || o.Gone }

// Over reports whether h can change no more.
func (t *Trace) Over(h *Hold) bool { return t.Last || h.EndEvent >= 0 }

// Begun reports whether h began in this window.
func (t *Trace) Begun(h *Hold) bool { return h.Start > t.before }

// DiscardSettled ends a window: it drops the operations and holds that have ended. The time of
// the next event must be later than that of the last one, so that no two windows share an
// instant.
func (t *Trace) DiscardSettled() {
	t.before = t.End
	t.Ops, t.Holds = t.Ops[:0], t.Holds[:0]
	t.busy = slices.DeleteFunc(t.busy, func(p *Process) bool {
		t.Ops, t.Holds = append(t.Ops, p.Open...), slices.AppendSeq(t.Holds, p.Holds.All())
		p.last = lastOwnership{}
		p.busy = len(p.Open) > 0 || p.Holds.any()
		return !p.busy
	})
	slices.SortFunc(t.Ops, func(a, b *Op) int { return cmp.Or(a.Invoke-b.Invoke, a.Part-b.Part) })
	slices.SortFunc(t.Holds, func(a, b *Hold) int {
		return cmp.Or(a.Acquire.Done-b.Acquire.Done, a.Acquire.Part-b.Acquire.Part)
	})
	t.OddDeep, t.Notices = nil, nil
	for _, info := range t.touched {
		info.touched, info.holds = false, nil
	}
	t.touched = t.touched[:0]
	t.held.forget()
}

// GoesOn returns the number of open operations, holds and excuses that the next window shows
// again.
func (t *Trace) GoesOn() int {
	n := len(t.Ops) + len(t.Holds)
	for _, h := range t.Holds {
		n += len(h.Excuses)
	}
	return n
}

// Lifetime returns the longest time that a session can live on without its client.
func (t *Trace) Lifetime() time.Duration { return max(t.Header.SessionTimeout, time.Second) }

// Calm returns the time for which the effects of a fault last after it.
func (t *Trace) Calm() time.Duration { return 2 * t.Header.SessionTimeout }
