package checker

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// A call returns when its context ends, fails only for a reason that the recipe gives, and reports
// no loss of a lease that it gives back itself, by a log whose times are exact.
func TestCallsReturnWithTheirContextAndForAReason(t *testing.T) {
	fails := func(e histories.Event) func(*run) {
		return func(r *run) { r.want(5, 1).op(900, histories.Fail, 1, histories.Acquire, e) }
	}
	releases := func(e histories.Event) func(*run) {
		return func(r *run) {
			r.want(5, 1).got(10, 1, 41).release(50, 1).op(90, histories.Fail, 1, histories.Release, e)
		}
	}
	gives := func(r *run) { r.want(5, 1).got(10, 1, 41).release(50, 1).released(90, 1) }
	permits := func(r *run) {
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Semaphore, Size: 2}})
		r.permits(5, 1, 2, 41).op(50, histories.Invoke, 1, histories.Release, histories.Event{Permits: 2, Depth: 1, Token: tok(41)})
		r.op(90, histories.Fail, 1, histories.Release, histories.Event{Permits: 2, Depth: 1, Token: tok(41), Refused: true, Error: "lease lost"})
	}
	again := func(ret int, e histories.Event) func(*run) {
		return func(r *run) { r.want(5, 1).got(10, 1, 41).want(20, 1).op(ret, histories.Fail, 1, histories.Acquire, e) }
	}
	// A writer or a reader asks for the lock in the other mode at 6 s.
	crosses := func(first, second histories.Mode, ret int) func(*run) {
		return func(r *run) {
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
			r.op(5, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: first})
			r.op(10, histories.OK, 1, histories.Acquire, histories.Event{Mode: first, Token: tok(41), Depth: 1, Session: session(1)})
			r.op(6000, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: second})
			r.op(ret, histories.Fail, 1, histories.Acquire, histories.Event{Mode: second, Late: 1})
		}
	}
	stands := func() *servers { return newServers().node(1, 6, 41) }
	gone := func(ms int) *servers { return newServers().node(1, 6, 41).deleted(1, ms, 42) }
	byAnother := func() *servers { return gone(60).by(2) }
	for name, test := range map[string]struct {
		run       func(*run)
		servers   *servers
		guarantee string
		says      string // "" for no violation
	}{
		"at the end of its context": {fails(histories.Event{Late: 1}), gone(20), Progress, ""},
		"soon after it":             {fails(histories.Event{Late: 250 * time.Millisecond}), gone(20), Progress, ""},
		"long after it":             {fails(histories.Event{Late: 251 * time.Millisecond}), gone(20), Progress, "more than 250 ms later"},
		"long after it, in a pause": {func(r *run) {
			r.want(5, 1).pause(100, 1).wake(890, 1).op(900, histories.Fail, 1, histories.Acquire, histories.Event{Late: 800 * time.Millisecond})
		}, gone(20), Progress, ""},
		"long after it, in real time": {fails(histories.Event{Late: 800 * time.Millisecond}), func() *servers { s := gone(20); s.Clock = 2; return s }(), Progress, ""},
		"for no reason":               {fails(histories.Event{Unexplained: true, Error: "session ended"}), gone(20), Progress, "its context went on: session ended"},
		"for no reason, not promised": {fails(histories.Event{Unexplained: true, Error: "connection lost"}), gone(20), Progress, ""},
		"long after it, not promised": {fails(histories.Event{Late: time.Second}), gone(20), Progress, ""},
		"a guarded write for no reason": {func(r *run) {
			write := histories.Event{Store: histories.StoreGuarded, Value: 1, Token: tok(41)}
			r.want(5, 1).got(10, 1, 41).op(20, histories.Invoke, 1, histories.Write, write)
			write.Unexplained, write.Error = true, "node does not exist"
			r.op(30, histories.Fail, 1, histories.Write, write)
		}, stands(), Progress, "called write of \"a\" at 0.020000 s, and it failed at 0.030000 s, although its context went on: node does not exist"},
		"for a reason": {fails(histories.Event{Error: "lease lost"}), gone(20), Progress, ""},
		"an owner that asks again is answered at once": {again(270, histories.Event{Late: 1}), stands(), Progress, ""},
		"an owner that asks again waits":               {again(271, histories.Event{Late: 1}), stands(), Progress, "process 1 had lock \"a\" when it called acquire at 0.020000 s, and was answered at 0.271000 s"},
		"an owner that asks again waits, in real time": {again(271, histories.Event{Late: 1}), func() *servers { s := stands(); s.Clock = 2; return s }(), Progress, ""},
		"an owner that asks again waits, not promised": {again(271, histories.Event{Late: 1}), stands(), Progress, ""},
		"an owner that asks again waits, and is paused": {func(r *run) {
			r.want(5, 1).got(10, 1, 41).want(20, 1).pause(30, 1).wake(290, 1).op(300, histories.Fail, 1, histories.Acquire, histories.Event{Late: 1})
		}, stands(), Progress, ""},
		"an owner that asks again has lost the lock": {func(r *run) {
			r.want(5, 1).got(10, 1, 41).want(20, 1).lost(30, 1).op(900, histories.Fail, 1, histories.Acquire, histories.Event{Late: 1})
		}, stands(), Progress, ""},
		"a reader that asks to write waits":  {crosses(histories.ModeRead, histories.ModeWrite, 6251), stands(), Progress, "had lock"},
		"a writer that asks to read in time": {crosses(histories.ModeWrite, histories.ModeRead, 7000), stands(), Progress, ""},
		"a writer that asks to read waits":   {crosses(histories.ModeWrite, histories.ModeRead, 7001), stands(), Progress, "had lock"},
		"a writer that asks to read, a fault": {func(r *run) {
			crosses(histories.ModeWrite, histories.ModeRead, 7001)(r)
			r.pause(2001, 1).wake(2002, 1)
			slices.SortStableFunc(r.h.Events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
		}, stands(), Progress, ""},
		"a release that reports the loss of what it gave back":                      {releases(histories.Event{Refused: true, Error: "lease lost"}), gone(60), AnswersAreTrue, "the lease was lost; its node was deleted"},
		"a release that reports it after the deadline":                              {releases(histories.Event{Error: "lease lost"}), gone(60), AnswersAreTrue, ""},
		"a release of a lease whose node another client deleted":                    {releases(histories.Event{Refused: true, Error: "lease lost"}), byAnother(), AnswersAreTrue, ""},
		"a release of two permits, of which one was deleted":                        {permits, gone(60), AnswersAreTrue, ""},
		"a release that succeeds, of a lease whose node another client had deleted": {gives, gone(49).by(2), AnswersAreTrue, "another client, of session s2, had deleted its node at 0.049000 s"},
		"a release that hands the node on, which another client had deleted": {func(r *run) {
			r.h.Header.Recipe, r.h.Header.Size = string(histories.Handoff), 3
			gives(r)
		}, gone(49).by(2), AnswersAreTrue, ""},
		"a release that succeeds, of a lease whose node another client deletes": {gives, byAnother(), AnswersAreTrue, ""},
		"a release that succeeds, of a lease whose node is deleted":             {gives, gone(49), AnswersAreTrue, ""},
		"a release that succeeds, of a lease whose session has ended":           {gives, gone(49).by(2).expired(1, 80, 43), AnswersAreTrue, ""},
		"a release that succeeds, of a lease whose node another had deleted, as a fault is near": {func(r *run) {
			r.want(5, 1).got(10, 1, 41).release(50, 1).pause(60, 1).wake(70, 1).released(90, 1)
		}, gone(49).by(2), AnswersAreTrue, ""},
		"a release that succeeds, of a lease whose node another had deleted, in real time": {gives, func() *servers { s := gone(49).by(2); s.Clock = 2; return s }(), AnswersAreTrue, ""},
		"a release that succeeds, of a lease whose loss was told": {func(r *run) {
			r.want(5, 1).got(10, 1, 41).lost(30, 1).both(50, histories.OK, 1, histories.Release, histories.Event{Token: tok(41), Depth: 1})
		}, gone(60), AnswersAreTrue, "as its holder had been told at 0.030000 s"},
		"a release of a lease whose node was gone before": {releases(histories.Event{Refused: true, Error: "lease lost"}), gone(49), AnswersAreTrue, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock != 2 {
				test.servers.Clock = 0
			}
			r := promising(t)
			r.h.Header.Promises.Says, r.h.Header.Promises.Returns = true, !strings.HasSuffix(name, "not promised")
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = time.Second, 2*time.Second
			test.run(r)
			v := r.report(WithService(&test.servers.Log)).Verdict(test.guarantee)
			found := len(v.Witnesses) > 0
			if found != (test.says != "") || found && !strings.Contains(v.Witnesses[0].What, test.says) {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}

// A holder is told of a loss only if there is one, by a log whose times are exact.
func TestALossHasACause(t *testing.T) {
	const begins, lost = 6000, 6100
	stands := func() *servers { return newServers().node(1, begins, 41).deleted(1, lost+50, 42) }
	for name, test := range map[string]struct {
		before  func(*run)
		servers *servers
		wrong   bool
	}{
		"nothing":                   {func(*run) {}, stands(), true},
		"a fault of another client": {func(r *run) { r.pause(5850, 2).wake(5860, 2) }, stands(), true},
		"an old fault":              {func(r *run) { r.pause(10, 1).wake(lost-4001, 1) }, stands(), true},
		"a fault":                   {func(r *run) { r.pause(1000, 1).wake(lost-3999, 1) }, stands(), false},
		"its node is gone":          {func(*run) {}, newServers().node(1, begins, 41).deleted(1, lost-10, 42), false},
		"its session has ended":     {func(*run) {}, stands().expired(1, lost-10, 43), false},
		"in real time":              {func(*run) {}, func() *servers { s := stands(); s.Clock = 2; return s }(), false},
		"not promised":              {func(*run) {}, stands(), false},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock != 2 {
				test.servers.Clock = 0
			}
			r := promising(t)
			r.h.Header.Promises.Returns, r.h.Header.SessionTimeout = name != "not promised", 2*time.Second
			for ms := 200; ms < begins-200; ms += 200 { // the servers answer
				r.cycle(ms, ms+1, 3, ms/200)
			}
			test.before(r)
			r.want(begins-5, 1).got(begins, 1, 41).lost(lost, 1)
			slices.SortStableFunc(r.h.Events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
			v := r.report(WithService(&test.servers.Log)).Verdict(LossIsTold)
			if wrong := v.Outcome == verdict.Violated; wrong != test.wrong || wrong && !strings.Contains(v.Reason, "told of a loss that nothing had caused") {
				t.Errorf("%v: %s %v", v.Outcome, v.Reason, v.Witnesses)
			}
		})
	}
}

// A lease is not lost before a deadline that it has reported, and that its client is to keep, by a log
// whose times are exact; nor is the connection told to be lost before.
func TestALossIsNotToldBeforeAFirmDeadline(t *testing.T) {
	const good = 1000 // ms after 20
	left := func(firm bool) func(*run) {
		d := good * time.Millisecond
		return func(r *run) {
			r.want(5, 1).got(10, 1, 41).says(20, 1, histories.Event{Token: tok(41), Depth: 1}, histories.Saying{Asked: 20 * time.Millisecond, Left: &d, Firm: firm})
		}
	}
	loses := func(ms int) func(*run) { return func(r *run) { r.lost(ms, 1) } }
	unlinked := func(ms int) func(*run) {
		return func(r *run) {
			for i, state := range []string{histories.ConnectionConnected, histories.ConnectionSuspended, histories.ConnectionLost} {
				r.add(ms-2+i, histories.Event{Type: histories.Says, Process: 1, Session: session(1), Saying: &histories.Saying{Asked: time.Duration(ms-2+i) * time.Millisecond, Connection: state, Client: 1}})
			}
		}
	}
	stands := func() *servers { return newServers().node(1, 6, 41).deleted(1, 2000, 42) }
	for name, test := range map[string]struct {
		says, then func(*run)
		servers    *servers
		wrong      string
	}{
		"before it":                           {left(true), loses(900), stands(), "the lease was good until"},
		"at it":                               {left(true), loses(20 + good), stands(), ""},
		"before one that is not firm":         {left(false), loses(900), stands(), ""},
		"its node is gone":                    {left(true), loses(900), newServers().node(1, 6, 41).deleted(1, 800, 42), ""},
		"its session has ended":               {left(true), loses(900), stands().expired(1, 800, 42), ""},
		"its session was forced to end":       {left(true), func(r *run) { r.expire(800, 1).lost(900, 1) }, stands(), ""},
		"in real time":                        {left(true), loses(900), func() *servers { s := stands(); s.Clock = 2; return s }(), ""},
		"not promised":                        {left(true), loses(900), stands(), ""},
		"the connection, before it":           {left(true), unlinked(900), stands(), "its connection is lost"},
		"the connection, at it":               {left(true), unlinked(20 + good), stands(), ""},
		"the connection, of an ended session": {left(true), unlinked(900), stands().expired(1, 800, 42), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock != 2 {
				test.servers.Clock = 0
			}
			r := promising(t)
			r.h.Header.Promises.Returns = name != "not promised"
			test.says(r)
			test.then(r)
			v := r.report(WithService(&test.servers.Log)).Verdict(AnswersAreTrue)
			if wrong := v.Outcome == verdict.Violated; wrong != (test.wrong != "") || wrong && !strings.Contains(v.Witnesses[0].String(), test.wrong) {
				t.Errorf("%v: %s %v", v.Outcome, v.Reason, v.Witnesses)
			}
		})
	}
}

// An acquire whose session has ended has a place in the next session soon after its client has created
// a node there, by a log whose times are exact.
func TestAnAcquireGoesOnInTheNextSession(t *testing.T) {
	moved := func(ms int) func(*run) {
		return func(r *run) {
			r.add(ms, histories.Event{Type: histories.Enqueued, Process: 1, Lock: "a", Token: tok(60), Session: session(8)})
			r.op(ms+10, histories.OK, 1, histories.Acquire, histories.Event{Token: tok(60), Depth: 1, Session: session(8)})
		}
	}
	ends := func(ms int, typ histories.Type, session string) func(*run) {
		return func(r *run) {
			r.op(ms, typ, 1, histories.Acquire, histories.Event{Session: session, Late: 1, Token: tok(41)})
		}
	}
	both := func(a, b func(*run)) func(*run) { return func(r *run) { a(r); b(r) } }
	fault := func(from, to int, name string, p int, targets ...string) func(*run) {
		return func(r *run) {
			for ms, typ := range map[int]histories.Type{from: histories.FaultStart, to: histories.FaultStop} {
				r.add(ms, histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{ID: 1, Name: name, Targets: targets, Processes: []int{p}}})
			}
		}
	}
	ended := func() *servers { return newServers().node(1, 2006, 41).expired(1, 5500, 42).node(8, 5600, 43) }
	for name, test := range map[string]struct {
		run     func(*run)
		servers *servers
		wrong   bool
	}{
		"in time":                            {moved(5850), ended(), false},
		"late":                               {moved(5851), ended(), true},
		"late, after its session was forced": {both(fault(5490, 5510, histories.ForcedExpiry, 1, "client"), moved(5851)), ended(), true},
		"late, after a fault of a server":    {both(fault(3590, 3610, "pause", 7, "server 1"), moved(5851)), ended(), false},
		"late, long after one":               {both(fault(3590, 3595, "pause", 7, "server 1"), moved(5851)), ended(), true},
		"late, in a fault":                   {both(fault(5700, 5710, "down", 1, "client"), moved(5851)), ended(), false},
		"late, in a fault of another":        {both(fault(5700, 5710, "down", 2, "client"), moved(5851)), ended(), true},
		"never, and gives up in time":        {ends(5850, histories.Fail, session(8)), ended(), false},
		"never, and gives up":                {ends(5851, histories.Fail, session(8)), ended(), true},
		"never, as it was granted its place": {ends(5851, histories.OK, session(1)), ended(), false},
		"late, at a lock that is handed on": {both(func(r *run) {
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Handoff, Size: 3}, "c": {Recipe: histories.Mutex}})
		}, moved(5851)), ended(), false},
		"its client has not connected again":   {moved(5851), newServers().node(1, 2006, 41).expired(1, 5500, 42).node(8, 5602, 43), false},
		"its session goes on":                  {moved(5851), newServers().node(1, 2006, 41).node(8, 5600, 43), false},
		"the next session is older than that":  {moved(5851), newServers().node(1, 2006, 41).node(8, 5499, 43).expired(1, 5700, 44), false},
		"late, by a log with times less exact": {moved(5851), func() *servers { s := ended(); s.Clock = 2; return s }(), false},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock != 2 {
				test.servers.Clock = 0
			}
			r := promising(t)
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = 250*time.Millisecond, 2*time.Second
			for ms := 200; ms < 6200; ms += 200 { // the servers answer
				r.add(ms, histories.Event{Type: histories.Invoke, Process: 4, Op: histories.Acquire, Lock: "c"})
				r.add(ms+1, histories.Event{Type: histories.OK, Process: 4, Op: histories.Acquire, Lock: "c", Token: tok(ms), Depth: 1, Session: session(4)})
				r.add(ms+2, histories.Event{Type: histories.Invoke, Process: 4, Op: histories.Release, Lock: "c", Depth: 1})
				r.add(ms+3, histories.Event{Type: histories.OK, Process: 4, Op: histories.Release, Lock: "c", Depth: 1})
			}
			r.want(2005, 1).place(2010, 1, 41)
			test.run(r)
			slices.SortStableFunc(r.h.Events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
			v := r.report(WithService(&test.servers.Log)).Verdict(Progress)
			wrong := slices.ContainsFunc(v.Witnesses, func(w verdict.Witness) bool {
				return strings.Contains(w.What, "with a place in session s1, which had ended at 5.5")
			})
			if wrong != test.wrong {
				t.Errorf("%v: %s %v", v.Outcome, v.Reason, v.Witnesses)
			}
		})
	}
}

// A try that gets a lock has looked at its queue soon after it has its place there, and found no other
// node ahead, by a log whose times are exact.
func TestATryDoesNotWait(t *testing.T) {
	tries := func(op histories.Op) func(*run) {
		return func(r *run) {
			r.op(5, histories.Invoke, 1, op, histories.Event{})
			r.op(104, histories.OK, 1, op, histories.Event{Token: tok(41), Depth: 1, Session: session(1)})
		}
	}
	// The node of process p is ahead of that of process 1, which comes after 4 ms, until it is deleted.
	ahead := func(p, until int) *servers {
		return newServers().node(p, 4, 40).deleted(p, until, 42).node(1, 9, 41)
	}
	for name, test := range map[string]struct {
		run     func(*run)
		servers *servers
		wrong   bool
	}{
		"none is ahead":                      {tries(histories.TryAcquire), newServers().node(1, 9, 41), false},
		"one is ahead until it looks":        {tries(histories.TryAcquire), ahead(2, 88), false},
		"one is ahead for longer":            {tries(histories.TryAcquire), ahead(2, 89), true},
		"one of its own session":             {tries(histories.TryAcquire), ahead(1, 89), false},
		"one is ahead of an acquire":         {tries(histories.Acquire), ahead(2, 89), false},
		"one is ahead for longer, real time": {tries(histories.TryAcquire), func() *servers { s := ahead(2, 89); s.Clock = 2; return s }(), false},
		"one is ahead for longer, a fault": {func(r *run) {
			r.pause(1, 1).wake(2, 1)
			tries(histories.TryAcquire)(r)
		}, ahead(2, 89), false},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock != 2 {
				test.servers.Clock = 0
			}
			r := promising(t)
			r.h.Header.Promises.Returns = true
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = time.Second, 2*time.Second
			test.run(r)
			v := r.report(WithService(&test.servers.Log)).Verdict(Progress)
			wrong := len(v.Witnesses) > 0 && strings.Contains(v.Witnesses[0].What, "got the lock although another node was ahead until 0.089000 s")
			if wrong != test.wrong {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}
