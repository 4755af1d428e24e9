package checker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// faultSpan is one fault from start to stop.
type faultSpan struct {
	*histories.Fault
	start, stop time.Duration
	event       int
	failed      bool // it could not be carried out
}

func (f *faultSpan) hits(process int) bool { return hits(f.Fault, process) }

// hits reports whether a fault hits a process.
func hits(f *histories.Fault, process int) bool {
	return len(f.Processes) == 0 || slices.Contains(f.Processes, process)
}

// onServers reports whether the fault hits servers, and with them clients that it does
// not name.
func (f *faultSpan) onServers() bool {
	return slices.ContainsFunc(f.Targets, func(target string) bool { return strings.HasPrefix(target, "server ") })
}

// faultLog has the faults of a history.
type faultLog struct {
	all    []*faultSpan // by start
	active map[int]*faultSpan
	forced []*faultSpan // those that excuse beliefs: forced expiries, and pauses of their process

	forcing       []*faultSpan  // those of them that go on
	longestForced time.Duration // of the others

	// lossBound is how long a holder may go on believing after its session was
	// ended from the side. A target that never tells of loss promises no bound, so
	// its holders have no excuse at all: it is 0.
	lossBound time.Duration
	// wakeGrace is how long after a pause a process may go on as if there had been
	// none.
	wakeGrace time.Duration
}

func newFaultLog(header *histories.Header) faultLog {
	l := faultLog{active: map[int]*faultSpan{}, wakeGrace: histories.WakeBound + histories.Slack(header.SessionTimeout)}
	if header.Promises.TellsLoss {
		l.lossBound = header.Promises.LossBound
	}
	return l
}

// begin takes in that a fault has started.
func (l *faultLog) begin(i int, e *histories.Event) {
	fault := *e.Fault
	f := &faultSpan{Fault: &fault, start: e.Time, stop: forever, event: i}
	l.active[fault.ID] = f
	l.all = append(l.all, f)
	if f.excuses() {
		l.forced, l.forcing = append(l.forced, f), append(l.forcing, f)
	}
}

// stop takes in that one has stopped.
func (l *faultLog) stop(e *histories.Event) {
	f := l.active[e.Fault.ID]
	f.stop, f.failed = e.Time, e.Error != ""
	delete(l.active, e.Fault.ID)
	if f.excuses() {
		l.forcing = slices.DeleteFunc(l.forcing, func(g *faultSpan) bool { return g == f })
		l.longestForced = max(l.longestForced, f.stop-f.start)
	}
}

// pauses reports whether any process was paused.
func (l *faultLog) pauses() bool {
	return slices.ContainsFunc(l.all, func(f *faultSpan) bool { return f.Name == histories.WorkerPause })
}

// excusing returns the faults that excuse process and were in force at some time
// in [from, to].
func (l *faultLog) excusing(process int, from, to time.Duration) []*faultSpan {
	return l.forcedThat(func(f *faultSpan) bool { return f.hits(process) }, from, to)
}

// forcedThat returns the faults that excuse beliefs, are as asked for and were in
// force at some time in [from, to].
func (l *faultLog) forcedThat(is func(*faultSpan) bool, from, to time.Duration) []*faultSpan {
	var all []*faultSpan
	add := func(f *faultSpan) {
		if f.start <= to && f.stop >= from && is(f) {
			all = append(all, f)
		}
	}
	i, _ := slices.BinarySearchFunc(l.forced, from-l.longestForced, func(f *faultSpan, from time.Duration) int { return cmp.Compare(f.start, from) })
	for _, f := range l.forcing {
		if i < len(l.forced) && f.event >= l.forced[i].event {
			break // it is among them
		}
		add(f)
	}
	for ; i < len(l.forced) && l.forced[i].start <= to; i++ {
		add(l.forced[i])
	}
	return all
}

// forcedIn returns when forced expiries that hit process may have taken effect,
// if that may have been in [from, to]: some time from their start to their end.
// It takes a while when servers are busy, and what is acquired meanwhile is
// acquired in the session that is about to end.
func (l *faultLog) forcedIn(process int, from, to time.Duration) []span {
	return l.spansOf(histories.ForcedExpiry, process, from, to)
}

// wasForced reports whether a forced expiry may have ended a session of process in
// [from, to]. It hits the session's processes of its time: one that has ended before
// is none of them, though what it was told of the session still stands.
func (l *faultLog) wasForced(session string, process int, from, to time.Duration) bool {
	return len(l.forcedThat(func(f *faultSpan) bool {
		return f.Name == histories.ForcedExpiry && (f.hits(process) || f.Params["session"] == session)
	}, from, to)) > 0
}

// robbedIn returns when process may have lost a lock, or its place in a queue, without
// any warning: by a forced expiry, or since its node was deleted.
func (l *faultLog) robbedIn(process int, from, to time.Duration) []span {
	return append(l.forcedIn(process, from, to), l.spansOf(histories.NodeDeletion, process, from, to)...)
}

// pausedIn returns when process was paused at some time in [from, to].
func (l *faultLog) pausedIn(process int, from, to time.Duration) []span {
	return l.spansOf(histories.WorkerPause, process, from, to)
}

func (l *faultLog) spansOf(fault string, process int, from, to time.Duration) []span {
	var at []span
	for _, f := range l.excusing(process, from, to) {
		if f.Name == fault {
			at = append(at, span{f.start, f.stop})
		}
	}
	return at
}

// endedSession returns the first fault that has ended a session and began before
// a given time, or nil. It goes by the session: a client that is retired as one process
// goes on in it as another.
func (l *faultLog) endedSession(session string, before time.Duration) *faultSpan {
	for _, f := range l.forced {
		if f.start <= before && f.Name == histories.ForcedExpiry && !f.failed && session != "" && f.Params["session"] == session {
			return f
		}
	}
	return nil
}
