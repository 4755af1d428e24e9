package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// holding is a timeline in which process 0 holds lock a in session s1 from 10 ms on.
func holding() *timeline {
	t := newTestTimeline("1", nowhere)
	t.header.SessionTimeout = 100 * time.Millisecond
	e := histories.Event{Process: 0, Op: histories.Acquire, Lock: "a", Session: "s1"}
	for i, typ := range []histories.Type{histories.Invoke, histories.OK} {
		e.Type, e.Time = typ, time.Duration(i)*10*time.Millisecond
		t.step(&e)
	}
	return t
}

// drawn describes the bars of process 0 at lock a.
func drawn(t *timeline) string {
	names := map[barKind]string{waited: "waited", held: "held", heldAgain: "again", stale: "stale", suspended: "suspended", afterLoss: "told", releasing: "releasing"}
	bars := t.tracks[[2]int32{0, 0}].bars
	sortBars(bars)
	var all []string
	for _, b := range bars {
		all = append(all, fmt.Sprintf("%s %d-%d", names[b.kind], b.from.Milliseconds(), b.to.Milliseconds()))
	}
	return strings.Join(all, ", ")
}

func TestAHoldThatTheServiceDoesNotBackIsStale(t *testing.T) {
	at := func(ms int, typ histories.Type, op histories.Op) histories.Event {
		return histories.Event{Time: time.Duration(ms) * time.Millisecond, Type: typ, Op: op, Process: 0, Lock: "a", Session: "s1"}
	}
	expired := func(ms int, session string) histories.Event {
		return histories.Event{Time: time.Duration(ms) * time.Millisecond, Type: histories.Expired, Process: -1, Session: session}
	}
	for name, c := range map[string]struct {
		events []histories.Event
		want   string
	}{
		"the session ends, and the lock is given back": {
			[]histories.Event{expired(50, "s1"), at(80, histories.Invoke, histories.Release)},
			"waited 0-10, held 10-50, stale 50-80",
		},
		"the session ends, and the client is told": {
			[]histories.Event{expired(50, "s1"), at(60, histories.Lost, ""), at(80, histories.Invoke, histories.Release)},
			"waited 0-10, held 10-50, stale 50-60, told 60-80",
		},
		"the client is told before the session ends": {
			[]histories.Event{at(40, histories.Lost, ""), expired(50, "s1"), at(80, histories.Invoke, histories.Release)},
			"waited 0-10, held 10-40, told 40-80",
		},
		"the session ends and the client dies": {
			[]histories.Event{expired(50, "s1"), {Time: 70 * time.Millisecond, Type: histories.Crash, Process: 0}},
			"waited 0-10, held 10-50, stale 50-70",
		},
		"the session ends, and nothing is heard any more": {
			[]histories.Event{expired(50, "s1")},
			"waited 0-10, held 10-50, stale 50-900",
		},
		"a fault ends the session, and that is seen later": {
			[]histories.Event{
				{Time: 30 * time.Millisecond, Type: histories.FaultStop, Process: -1, Fault: &histories.Fault{ID: 1, Name: histories.ForcedExpiry, Params: map[string]string{"session": "s1"}}},
				expired(50, "s1"), at(80, histories.Invoke, histories.Release),
			},
			"waited 0-10, held 10-30, stale 30-80",
		},
		"a fault fails to end the session": {
			[]histories.Event{
				{Time: 30 * time.Millisecond, Type: histories.FaultStop, Process: -1, Error: "refused", Fault: &histories.Fault{ID: 1, Name: histories.ForcedExpiry, Params: map[string]string{"session": "s1"}}},
				at(80, histories.Invoke, histories.Release),
			},
			"waited 0-10, held 10-80",
		},
		"another session ends": {
			[]histories.Event{expired(50, "s2"), at(80, histories.Invoke, histories.Release)},
			"waited 0-10, held 10-80",
		},
		"the session ends within a re-entry": {
			[]histories.Event{at(20, histories.Invoke, histories.Acquire), at(30, histories.OK, histories.Acquire), expired(50, "s1")},
			"waited 0-10, held 10-50, waited 20-30, again 30-50, stale 50-900, again 50-900",
		},
		"the link is down for the session timeout": {
			[]histories.Event{at(50, histories.Suspended, ""), at(200, histories.Invoke, histories.Release)},
			"waited 0-10, held 10-150, suspended 50-200, stale 150-200",
		},
		"the link is down for less": {
			[]histories.Event{at(50, histories.Suspended, ""), at(140, histories.Invoke, histories.Release)},
			"waited 0-10, held 10-140, suspended 50-140",
		},
		"the link is down for more, and the lease is kept": {
			[]histories.Event{at(50, histories.Suspended, ""), at(200, histories.Resumed, ""), at(250, histories.Invoke, histories.Release)},
			"waited 0-10, held 10-250, suspended 50-200",
		},
	} {
		tl := holding()
		for i := range c.events {
			tl.step(&c.events[i])
		}
		tl.calls = map[int]*call{} // the release is not to be drawn as unanswered
		tl.end(900 * time.Millisecond)
		if got := drawn(tl); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestWhatIsGotAfterTheEndOfTheSessionIsStaleFromTheStart(t *testing.T) {
	tl := newTestTimeline("1", nowhere)
	e := histories.Event{Process: 0, Op: histories.Acquire, Lock: "a", Session: "s1", Type: histories.Invoke}
	tl.step(&e)
	tl.step(&histories.Event{Time: time.Millisecond, Type: histories.Expired, Process: -1, Session: "s1"})
	e.Time, e.Type = 5*time.Millisecond, histories.OK
	tl.step(&e)
	tl.end(9 * time.Millisecond)
	if got := drawn(tl); got != "waited 0-5, stale 5-9" {
		t.Error(got)
	}
}

func TestTheLookAtAViolationBeginsWithItsCause(t *testing.T) {
	const ms = time.Millisecond
	two := func(from time.Duration, end []verdict.SessionEnd, faults ...verdict.FaultSpan) *verdict.Witness {
		return &verdict.Witness{Lock: "a", From: from, To: from + 10*ms, Faults: faults, SessionEnds: end, Parties: []verdict.Party{
			{Process: 0, Session: "s1", From: 100 * ms, To: 900 * ms, Event: 1, Invoke: 0},
			{Process: 1, Session: "s2", From: from, To: from + 10*ms, Event: 3, Invoke: 2},
		}}
	}
	fault := func(process int, from, to time.Duration) verdict.FaultSpan {
		return verdict.FaultSpan{Fault: histories.Fault{ID: 1, Name: "expire-session", Processes: []int{process}}, From: from, To: to}
	}
	seen := []verdict.SessionEnd{{Process: 0, Session: "s1", At: 300 * ms}}
	for name, c := range map[string]struct {
		witness *verdict.Witness
		want    time.Duration
		until   time.Duration // if it is after the end
	}{
		"the end of the session":                       {two(400*ms, seen), 300 * ms, 0},
		"the fault that ended it":                      {two(400*ms, seen, fault(0, 290*ms, 295*ms)), 290 * ms, 0},
		"the end of a fault long before":               {two(310*ms, seen, fault(0, 50*ms, 295*ms)), 295 * ms, 0},
		"not a fault of another process":               {two(400*ms, seen, fault(7, 290*ms, 295*ms)), 300 * ms, 0},
		"when the first got it":                        {two(110*ms, nil), 100 * ms, 0},
		"the fault, when no session ends":              {two(250*ms, nil, fault(0, 240*ms, 245*ms)), 240 * ms, 0},
		"a session that was seen to end afterwards":    {two(280*ms, seen, fault(0, 220*ms, 235*ms)), 220 * ms, 300 * ms},
		"the fault, from when the session had ended":   {two(400*ms, []verdict.SessionEnd{{Process: 0, Session: "s1", At: 395 * ms, Forced: true}}), 395 * ms, 0},
		"the violation, when nothing near explains it": {two(400*ms, nil), 400 * ms, 0},
	} {
		s := newStory(new(histories.Header), "mutual exclusion", c.witness, time.Second)
		events := []histories.Event{
			{Time: 90 * ms, Type: histories.Invoke, Op: histories.Acquire, Lock: "a", Process: 0}, {Time: 100 * ms, Type: histories.OK, Op: histories.Acquire, Lock: "a", Process: 0},
			{Time: 101 * ms, Type: histories.Invoke, Op: histories.Acquire, Lock: "a", Process: 1}, {Time: c.witness.From, Type: histories.OK, Op: histories.Acquire, Lock: "a", Process: 1},
		}
		for i := range events {
			s.step(i, &events[i])
		}
		if got, until := s.frame(); got != c.want || until != max(c.witness.To, c.until) {
			t.Errorf("%s: from %v to %v, want %v to %v; steps %+v", name, got, until, c.want, max(c.witness.To, c.until), s.steps)
		}
	}
}
