package facts

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Fault is one fault from its start to its stop.
type Fault struct {
	*histories.Fault
	Start, Stop time.Duration
	Event       int
	failed      bool // it could not be carried out
	clients     int  // the number of clients of the run; 0: not known
}

// Hits reports whether the fault hit a process when it began.
func (f *Fault) Hits(process int) bool {
	return len(f.Processes) == 0 || slices.Contains(f.Processes, process)
}

// Reaches reports whether the fault hits a process, or an earlier process of the same client: a
// broken client is broken for its next process, too.
func (f *Fault) Reaches(process int) bool {
	return f.Hits(process) || f.clients > 0 && slices.ContainsFunc(f.Processes, func(first int) bool {
		return process > first && (process-first)%f.clients == 0
	})
}

// strikes reports whether the fault hits a process, or forces its session to expire. A process
// that its client began after the fault's start may use that session, too, and be handed the place
// whose node was deleted. A pause that waits for a message hits the process that the client is by
// then.
func (f *Fault) strikes(process int, session string) bool {
	return f.Hits(process) || (f.Pauses() || f.Name == histories.NodeDeletion) && f.Reaches(process) || f.Name == histories.ForcedExpiry && session != "" && f.Params["session"] == session
}

// OnServers reports whether the fault hits servers, and with them clients that it does not
// name.
func (f *Fault) OnServers() bool {
	return slices.ContainsFunc(f.Targets, func(target string) bool { return strings.HasPrefix(target, "server ") })
}

// FaultLog holds the faults of a history.
type FaultLog struct {
	All     []*Fault // by start
	Stalls  []Span   // the times in which the recording process stood still, in order
	clients int      // the number of clients of the run; 0: not known
	active  map[int]*Fault
	known   timelines // all faults
	forced  timelines // faults that excuse beliefs: forced expiries, deletions of nodes, pauses, and stalls

	// LossBound is the time for which a holder may go on believing after its session was forced
	// to expire. It is 0 for a target that never tells of loss: such a target promises no
	// bound, so its holders have no excuse.
	LossBound time.Duration
	// WakeGrace is the time after a pause in which a process may go on as if it had not been
	// paused.
	WakeGrace time.Duration
}

func newFaultLog(header *histories.Header) FaultLog {
	l := FaultLog{clients: header.Clients, active: map[int]*Fault{}, known: timelines{}, forced: timelines{}, WakeGrace: histories.WakeBound + histories.Slack(header.SessionTimeout)}
	if header.Promises.TellsLoss {
		l.LossBound = header.Promises.LossBound
	}
	return l
}

// begin records that a fault has started.
func (l *FaultLog) begin(i int, e *histories.Event) {
	fault := *e.Fault
	f := &Fault{Fault: &fault, Start: e.Time, Stop: Forever, Event: i, clients: l.clients}
	l.active[fault.ID] = f
	l.All = append(l.All, f)
	targets := l.targets(f)
	l.known.add(f, targets)
	if f.excuses() {
		l.forced.add(f, targets)
	}
}

// stop records that a fault has stopped.
func (l *FaultLog) stop(e *histories.Event) {
	f := l.active[e.Fault.ID]
	f.Stop, f.failed = e.Time, e.Error != ""
	delete(l.active, e.Fault.ID)
	targets := l.targets(f)
	l.known.stops(f, targets)
	if f.excuses() {
		l.forced.stops(f, targets)
	}
}

// stall is the name of a stall of the recording process. It excuses beliefs although it is no
// fault of the run: the clients run in the same process, or their actions are recorded late.
const stall = "stall"

// stalled records a stall of the recording process. No event is on record for that time, so no
// known fault began later.
func (l *FaultLog) stalled(i int, e *histories.Event) {
	l.Stalls = append(l.Stalls, Span{e.Since, e.Time})
	f := &Fault{Fault: &histories.Fault{Name: stall}, Start: e.Since, Stop: e.Time, Event: i}
	l.forced.add(f, l.targets(f))
}

// Pauses reports whether any process was paused, or the recording process stood still.
func (l *FaultLog) Pauses() bool {
	return len(l.Stalls) > 0 || slices.ContainsFunc(l.All, (*Fault).Pauses)
}

// Struck reports whether a fault that reaches a process, or names none, was in force at some
// time in [from, to].
func (l *FaultLog) Struck(process int, from, to time.Duration) bool {
	for range l.Reaching(process, from, to) {
		return true
	}
	return false
}

// In returns the faults that were in force at some time in [from, to], in the order in which
// they began.
func (l *FaultLog) In(from, to time.Duration) iter.Seq[*Fault] {
	return l.known.in(from, to, target{kind: anything})
}

// Reaching returns the faults of In that reach a process, or name none.
func (l *FaultLog) Reaching(process int, from, to time.Duration) iter.Seq[*Fault] {
	return l.that(from, to, func(f *Fault) bool { return f.Reaches(process) }, target{kind: everybody}, l.client(process))
}

// ReachingOrOnServers returns the faults of In that reach a process, or name none, or hit
// servers.
func (l *FaultLog) ReachingOrOnServers(process int, from, to time.Duration) iter.Seq[*Fault] {
	return l.that(from, to, func(f *Fault) bool { return f.Reaches(process) || f.OnServers() }, target{kind: everybody}, l.client(process), target{kind: someServer})
}

func (l *FaultLog) that(from, to time.Duration, are func(*Fault) bool, targets ...target) iter.Seq[*Fault] {
	return func(yield func(*Fault) bool) {
		for f := range l.known.in(from, to, targets...) {
			if are(f) && !yield(f) {
				return
			}
		}
	}
}

// Excusing returns the faults that excuse process, in a session, and were in force at some
// time in [from, to].
func (l *FaultLog) Excusing(process int, session string, from, to time.Duration) []*Fault {
	if len(l.forced) == 0 {
		return nil
	}
	var all []*Fault
	for f := range l.forced.in(from, to, target{kind: everybody}, l.client(process), target{kind: aSession, name: session}) {
		if f.strikes(process, session) {
			all = append(all, f)
		}
	}
	return all
}

// MayHaveDeleted reports whether a fault that began before an event deleted, or tried to
// delete, a lock's node at some time in [from, to]: see Deletes.
func (l *FaultLog) MayHaveDeleted(lock string, token histories.Token, session string, from, to time.Duration, event int) bool {
	for f := range l.forced.in(from, to, target{kind: aLock, name: lock}) {
		if f.Event < event && f.Deletes(lock, token, session) {
			return true
		}
	}
	return false
}

// ForcedIn returns the times in which forced expiries that hit process, or its session, may
// have taken effect, if they touch [from, to]: each from the start of the fault to its end. An
// expiry takes a while when servers are busy. A lock that is acquired meanwhile is acquired in
// the session that is about to end.
func (l *FaultLog) ForcedIn(process int, session string, from, to time.Duration) []Span {
	return l.spansOf(named(histories.ForcedExpiry), process, session, from, to)
}

// WasForced reports whether a forced expiry may have ended a session of process in [from, to].
// It hits the processes that use the session at that time. A process that ended before is not
// one of them, though the notifications that it got about the session still count.
func (l *FaultLog) WasForced(session string, process int, from, to time.Duration) bool {
	return len(l.ForcedIn(process, session, from, to)) > 0
}

// RobbedIn returns the times in which process may have lost a lock, or its place in a queue,
// without any warning: by a forced expiry, or since its node was deleted.
func (l *FaultLog) RobbedIn(process int, session string, from, to time.Duration) []Span {
	return append(l.ForcedIn(process, session, from, to), l.spansOf(named(histories.NodeDeletion), process, session, from, to)...)
}

// PausedIn returns the times, of those that touch [from, to], in which process was paused or
// the recording process stood still.
func (l *FaultLog) PausedIn(process int, from, to time.Duration) []Span {
	return l.spansOf((*Fault).Pauses, process, "", from, to)
}

func (l *FaultLog) spansOf(are func(*Fault) bool, process int, session string, from, to time.Duration) []Span {
	var at []Span
	for _, f := range l.Excusing(process, session, from, to) {
		if are(f) {
			at = append(at, Span{f.Start, f.Stop})
		}
	}
	return at
}

// named returns a function that reports whether a fault has a name.
func named(name string) func(*Fault) bool { return func(f *Fault) bool { return f.Name == name } }

// EndedSession returns the first fault that ended a session and began before a given time, or
// nil. It is found by the session and not by the process: a client that is retired as one
// process continues the session as another.
func (l *FaultLog) EndedSession(session string, before time.Duration) *Fault {
	if session == "" {
		return nil
	}
	for f := range l.forced.in(0, before, target{kind: aSession, name: session}) {
		if !f.failed {
			return f
		}
	}
	return nil
}
