package checker

import (
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// handed writes a run of a lock that may be handed on twice: grants of the given places, one
// after the other, by two processes in turn.
func handed(t *testing.T, places ...int) *run {
	r := newRun(t)
	r.h.Header.Locks = map[string]histories.Lock{"a": {Recipe: histories.Handoff, Size: 2}}
	sub := map[int]int32{}
	for i, place := range places {
		at, p := 10*i, i%2
		token := histories.Token{Zxid: int64(place), Sub: sub[place]}
		sub[place]++
		r.want(at, p)
		if token.Sub == 0 {
			r.place(at+1, p, place)
		}
		r.op(at+2, histories.OK, p, histories.Acquire, histories.Event{Token: token, Depth: 1, Session: "s"})
		r.op(at+3, histories.Invoke, p, histories.Release, histories.Event{Depth: 1, Token: token})
		r.op(at+4, histories.OK, p, histories.Release, histories.Event{Depth: 1, Token: token})
	}
	return r
}

func TestAPlaceIsHandedOnNoMoreOftenThanItMayBe(t *testing.T) {
	for name, c := range map[string]struct {
		places []int
		broken int
	}{
		"as often as it may be, again and again":   {[]int{1, 1, 1, 2, 2, 2, 3}, 0},
		"once too often":                           {[]int{1, 1, 1, 1, 2}, 1},
		"twice too often, after others had theirs": {[]int{1, 2, 2, 2, 2, 2}, 2},
		"never": {[]int{1, 2, 3, 4}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v := handed(t, c.places...).report().Verdict(Fairness)
			if v.Violations != c.broken {
				t.Fatalf("%v; want %d violations", v, c.broken)
			}
			if c.broken > 0 && !strings.Contains(v.Witnesses[0].What, "by the 3rd hand-over of place") {
				t.Errorf("witness: %s", v.Witnesses[0].What)
			}
		})
	}
}

func TestAPlaceThatWasLostIsNotHandedOn(t *testing.T) {
	r := newRun(t)
	r.h.Header.Locks = map[string]histories.Lock{"a": {Recipe: histories.Handoff, Size: 2}}
	r.want(0, 1).place(1, 1, 1).got(2, 1, 1).lost(3, 1)
	r.want(4, 2).op(5, histories.OK, 2, histories.Acquire, histories.Event{Token: histories.Token{Zxid: 1, Sub: 1}, Depth: 1, Session: "s2"})
	if v := r.report().Verdict(Fairness); v.Violations != 1 || !strings.Contains(v.Witnesses[0].What, "which had been lost") {
		t.Errorf("%v, %v", v, v.Witnesses)
	}
}

// A hand-off does not read the node: a client that is handed a place which has just been
// deleted cannot know that, but only for the bound.
func TestAPlaceThatWasDeletedMayBeHandedOnUntilThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		until int
		hit   []int // process 2 is the next one of the client of process 0
		want  verdict.Outcome
	}{
		"until the bound": {50, []int{1, 2}, verdict.Holds}, "beyond the bound": {90, []int{1, 2}, verdict.Violated},
		"to the next process of a client": {50, []int{0, 1}, verdict.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.h.Header.Clients = 2
			r.h.Header.Locks = map[string]histories.Lock{"a": {Recipe: histories.Handoff, Size: 2}}
			f := &histories.Fault{ID: 1, Name: histories.NodeDeletion, Targets: []string{"client 1"}, Processes: c.hit, Params: map[string]string{"lock": "a", "token": "1"}}
			r.want(0, 1).place(1, 1, 1).got(2, 1, 1).
				add(5, histories.Event{Type: histories.FaultStart, Process: -1, Fault: f}).
				add(6, histories.Event{Type: histories.FaultStop, Process: -1, Fault: f})
			r.want(7, 2).want(7, 3).place(8, 3, 2).release(9, 1)
			r.op(10, histories.OK, 2, histories.Acquire, histories.Event{Token: histories.Token{Zxid: 1, Sub: 1}, Depth: 1, Session: session(1)}).released(10, 1)
			r.got(12, 3, 2).release(c.until-2, 3).released(c.until-2, 3).cycle(c.until-1, c.until, 3, 3).lost(c.until+1, 2)
			report := r.report()
			if v := report.Verdict(MutualExclusion); v.Outcome != c.want {
				t.Errorf("%v, %v; want %s", v, v.Witnesses, c.want)
			}
			if v := report.Verdict(Fencing); v.Outcome != verdict.Holds {
				t.Errorf("a hand-over is no grant: %v, %v", v, v.Witnesses)
			}
		})
	}
}

// Nor does a hand-off check the session: a lease may be handed on after the session was forced
// to expire, until the client is told.
func TestALeaseThatIsHandedOnAfterAForcedExpiryIsLostWithinTheBound(t *testing.T) {
	handedOn := func(r *run, sub int32, told int) {
		r.want(0, 1).place(1, 1, 1).got(2, 1, 1).endOf(5, session(1), 1)
		r.want(7, 2).expired(8, 1).release(9, 1)
		r.op(9, histories.OK, 2, histories.Acquire, histories.Event{Token: histories.Token{Zxid: 1, Sub: sub}, Depth: 1, Session: session(1)}).released(9, 1)
		r.add(told, histories.Event{Type: histories.Lost, Process: 2, Lock: "a", Session: session(1)})
	}
	tell(t, LossIsTold, map[string]histories.Lock{"a": {Recipe: histories.Handoff, Size: 2}}, []told{
		{"a lease that was handed on in a session that had ended is lost within the bound", func(r *run) { handedOn(r, 1, 55) }, verdict.Holds, "", 0},
		{"a lease that was handed on in a session that had ended is lost late", func(r *run) { handedOn(r, 1, 56) }, verdict.Violated,
			`the session of process 2 had been forced to expire by 0.005000 s while it held lock "a"; it was told only at 0.056000 s, and had to be by 0.055000 s`, 0},
		{"a lease that was granted in a session that had ended is lost within the bound", func(r *run) { handedOn(r, 0, 55) }, verdict.Violated,
			`the session of process 2 had been forced to expire by 0.005000 s while it held lock "a"; it was told only at 0.055000 s, and had to be by 0.009000 s`, 0},
	})
}

func TestAHolderWhoseNodeWasDeletedIsTold(t *testing.T) {
	deleted := func(r *run) *run {
		f := &histories.Fault{ID: 1, Name: histories.NodeDeletion, Targets: []string{"client 1"}, Processes: []int{1}, Params: map[string]string{"lock": "a", "token": "1"}}
		return r.want(0, 1).got(1, 1, 1).
			add(5, histories.Event{Type: histories.FaultStart, Process: -1, Fault: f}).
			add(6, histories.Event{Type: histories.FaultStop, Process: -1, Fault: f})
	}
	link := func(r *run, ms int, up bool) {
		typ := histories.Suspended
		if up {
			typ = histories.Resumed
		}
		r.add(ms, histories.Event{Type: typ, Process: 1, Lock: "a", Session: session(1)})
	}
	for name, c := range map[string]struct {
		then func(*run)
		want verdict.Outcome
	}{
		"within the bound":                {func(r *run) { r.lost(50, 1).want(51, 2).got(52, 2, 2) }, verdict.Holds},
		"too late":                        {func(r *run) { r.lost(60, 1) }, verdict.Violated},
		"never":                           {func(r *run) { r.release(70, 1).released(71, 1) }, verdict.Violated},
		"its link was down until then":    {func(r *run) { link(r, 30, false); link(r, 80, true); r.lost(120, 1) }, verdict.Holds},
		"its link is still down":          {func(r *run) { link(r, 30, false); r.lost(120, 1) }, verdict.Holds},
		"its link has been up for longer": {func(r *run) { link(r, 30, false); link(r, 60, true); r.lost(120, 1) }, verdict.Violated},
		"it has released before":          {func(r *run) { r.release(40, 1).answer(41, histories.Fail, 1, histories.Release) }, verdict.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			r := deleted(newRun(t))
			c.then(r)
			if v := r.report().Verdict(LossIsTold); v.Outcome != c.want {
				t.Errorf("%v, %v; want %s", v, v.Witnesses, c.want)
			}
		})
	}
	r := deleted(newRun(t))
	r.want(7, 2).got(8, 2, 2).lost(40, 1)
	if v := r.report().Verdict(MutualExclusion); v.Outcome != verdict.Holds {
		t.Errorf("a holder that could not know yet: %v", v)
	}
	for up, want := range map[bool]verdict.Outcome{false: verdict.Holds, true: verdict.Violated} {
		r = deleted(newRun(t))
		link(r, 7, up)
		r.want(7, 2).got(90, 2, 2).lost(95, 1)
		if v := r.report().Verdict(MutualExclusion); v.Outcome != want {
			t.Errorf("a holder whose link is up, %v: %v", up, v)
		}
	}
}

// The deletion of a node of a lock without tokens names the session of the node.
func TestAHolderWithoutATokenWhoseNodeWasDeletedIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		session       string
		granted, told int // the deletion lasts from 5 to 7
		want          verdict.Outcome
	}{
		"within the bound":        {session(1), 1, 50, verdict.Holds},
		"too late":                {session(1), 1, 60, verdict.Violated},
		"of another session":      {session(2), 1, 60, verdict.NotExercised},
		"before it held the lock": {session(1), 6, 90, verdict.NotExercised},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.h.Header.Promises.Tokens = false
			f := &histories.Fault{ID: 1, Name: histories.NodeDeletion, Targets: []string{"client 1"}, Processes: []int{1}, Params: map[string]string{"lock": "a", "session": c.session}}
			r.want(0, 1)
			if c.granted < 5 {
				r.got(c.granted, 1, 0)
			}
			r.add(5, histories.Event{Type: histories.FaultStart, Process: -1, Fault: f})
			if c.granted > 5 {
				r.got(c.granted, 1, 0)
			}
			r.add(7, histories.Event{Type: histories.FaultStop, Process: -1, Fault: f}).lost(c.told, 1)
			if v := r.report().Verdict(LossIsTold); v.Outcome != c.want {
				t.Errorf("%v, %v; want %s", v, v.Witnesses, c.want)
			}
		})
	}
}

func TestWhoReentersWhatItHasLostIsNotLetIn(t *testing.T) {
	lost := func(r *run) *run {
		return r.want(0, 1).got(1, 1, 1).expired(2, 1).lost(3, 1).
			op(4, histories.Invoke, 1, histories.Acquire, histories.Event{Depth: 2})
	}
	again := func(r *run, typ histories.Type, token int) *run {
		return r.op(5, typ, 1, histories.Acquire, histories.Event{Token: tok(token), Depth: 2, Session: session(1)}).
			cycle(7, 8, 2, 5)
	}
	if v := again(lost(newRun(t)), histories.OK, 1).report().Verdict(Reentrancy); v.Violations != 1 || !strings.Contains(v.Witnesses[0].What, "had lost lock") {
		t.Errorf("let in: %v, %v", v, v.Witnesses)
	}
	if v := again(lost(newRun(t)), histories.Fail, 0).report().Verdict(Reentrancy); v.Violations != 0 {
		t.Errorf("refused: %v, %v", v, v.Witnesses)
	}
}

func TestAHolderOfPermitsOfWhichOneNodeWasDeletedIsTold(t *testing.T) {
	for permits, want := range map[string]verdict.Outcome{"2": verdict.Violated, "": verdict.NotExercised, "1": verdict.NotExercised} {
		params := map[string]string{"lock": "a", "token": "1"}
		if permits != "" {
			params["permits"] = permits
		}
		f := &histories.Fault{ID: 1, Name: histories.NodeDeletion, Targets: []string{"client 1"}, Processes: []int{1}, Params: params}
		r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Semaphore, Size: 3}}).permits(0, 1, 2, 1)
		r.add(5, histories.Event{Type: histories.FaultStart, Process: -1, Fault: f}).add(6, histories.Event{Type: histories.FaultStop, Process: -1, Fault: f})
		r.back(70, 1, 2, 1)
		if v := r.report().Verdict(LossIsTold); v.Outcome != want {
			t.Errorf("a deletion of %q permits: %v, %v; want %s", permits, v, v.Witnesses, want)
		}
	}
}

// A writer and the reader that it is downgraded to have tokens of one transaction, and two
// nodes.
func TestADowngradedReaderNeedNotBeToldOfItsWritersNode(t *testing.T) {
	for sub, want := range map[string]verdict.Outcome{"": verdict.Holds, "1": verdict.Violated} {
		params := map[string]string{"lock": "a", "token": "1"}
		if sub != "" {
			params["sub"] = sub
		}
		f := &histories.Fault{ID: 1, Name: histories.NodeDeletion, Targets: []string{"client 1"}, Processes: []int{1}, Params: params}
		r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
		r.mode(0, histories.Invoke, 1, histories.Acquire, histories.ModeWrite, 0).mode(1, histories.OK, 1, histories.Acquire, histories.ModeWrite, 1)
		r.mode(2, histories.Invoke, 1, histories.Acquire, histories.ModeRead, 0)
		r.op(3, histories.OK, 1, histories.Acquire, histories.Event{Mode: histories.ModeRead, Depth: 1, Session: session(1), Token: histories.Token{Zxid: 1, Sub: 1}})
		r.add(5, histories.Event{Type: histories.FaultStart, Process: -1, Fault: f}).add(6, histories.Event{Type: histories.FaultStop, Process: -1, Fault: f})
		r.mode(7, histories.Invoke, 1, histories.Release, histories.ModeWrite, 0).mode(8, histories.Fail, 1, histories.Release, histories.ModeWrite, 0)
		r.mode(70, histories.Invoke, 1, histories.Release, histories.ModeRead, 0).mode(71, histories.OK, 1, histories.Release, histories.ModeRead, 0)
		if v := r.report().Verdict(LossIsTold); v.Outcome != want {
			t.Errorf("a deletion of sub %q: %v, %v; want %s", sub, v, v.Witnesses, want)
		}
	}
}
