package checker

import (
	"reflect"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// ofRecipes sets the locks of the header.
func (r *run) ofRecipes(locks map[string]histories.Lock) *run {
	r.h.Header.Locks = locks
	return r
}

// both performs an operation within one millisecond.
func (r *run) both(ms int, typ histories.Type, p int, op histories.Op, e histories.Event) *run {
	return r.op(ms, histories.Invoke, p, op, e).op(ms, typ, p, op, e)
}

// pair acquires or releases locks a and b in one operation.
func (r *run) pair(ms int, typ histories.Type, p int, op histories.Op, tokens ...int) *run {
	e := histories.Event{Type: typ, Process: p, Op: op, Session: session(p), Parts: []histories.Part{{Lock: "a"}, {Lock: "b"}}}
	for i, n := range tokens {
		e.Parts[i].Token = tok(n)
	}
	return r.add(ms, e)
}

func TestAMultiLockIsHeldInEachOfItsParts(t *testing.T) {
	locks := map[string]histories.Lock{"a": {Recipe: histories.MultiLock}, "b": {Recipe: histories.MultiLock}}
	alone := histories.Event{Lock: "b", Token: tok(8), Depth: 1}
	for _, c := range []struct {
		name      string
		make      func(*run)
		guarantee string
		want      verdict.Outcome
	}{
		{"one lock of it is granted after its release", func(r *run) {
			r.pair(3, histories.Invoke, 1, histories.Release).both(4, histories.OK, 2, histories.Acquire, alone)
		}, MutualExclusion, verdict.Holds},
		{"one lock of it is granted to another meanwhile", func(r *run) {
			r.both(3, histories.OK, 2, histories.Acquire, alone).pair(4, histories.Invoke, 1, histories.Release)
		}, MutualExclusion, verdict.Violated},
		{"one lock of it is granted after its loss", func(r *run) {
			r.add(3, histories.Event{Type: histories.Lost, Process: 1, Session: session(1), Parts: []histories.Part{{Lock: "a"}, {Lock: "b"}}})
			r.both(4, histories.OK, 2, histories.Acquire, alone)
		}, MutualExclusion, verdict.Holds},
		{"its token of one lock is older than one granted before", func(r *run) {
			r.pair(3, histories.Invoke, 1, histories.Release).pair(3, histories.OK, 1, histories.Release)
			alone := alone
			alone.Token = tok(6)
			r.both(4, histories.OK, 2, histories.Acquire, alone)
		}, Fencing, verdict.Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t).ofRecipes(locks)
			r.pair(1, histories.Invoke, 1, histories.Acquire).pair(2, histories.OK, 1, histories.Acquire, 5, 7)
			c.make(r)
			if v := r.report().Verdict(c.guarantee); v.Outcome != c.want {
				t.Errorf("got %v, want %s", v, c.want)
			}
		})
	}
}

func TestALockThatIsNotReentrantRefusesItsOwner(t *testing.T) {
	again := histories.Event{Lock: "a", Token: tok(2), Depth: 2}
	for name, c := range map[string]struct {
		answer histories.Type
		want   verdict.Outcome
	}{"and was right to": {histories.Fail, verdict.Holds}, "or does not": {histories.OK, verdict.Violated}} {
		r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.NonReentrant}})
		r.want(1, 1).got(2, 1, 2).both(3, c.answer, 1, histories.Acquire, again).release(4, 1).released(5, 1)
		if v := r.report().Verdict(Reentrancy); v.Outcome != c.want {
			t.Errorf("%s: got %v, want %s", name, v, c.want)
		}
	}
}

func TestProgressIsOfEveryModeAndBarrier(t *testing.T) {
	locks := map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}, "b": {Recipe: histories.Barrier}, "d": {Recipe: histories.DoubleBarrier, Size: 1}}
	steps := []struct {
		what string
		op   histories.Op
		e    histories.Event
	}{
		{`get lock "a" to read`, histories.Acquire, histories.Event{Mode: histories.ModeRead}},
		{`get lock "a" to write`, histories.Acquire, histories.Event{Mode: histories.ModeWrite}},
		{`pass barrier "b"`, histories.Wait, histories.Event{Lock: "b"}},
		{`pass barrier "d"`, histories.Leave, histories.Event{Lock: "d", Generation: 1}},
	}
	for missing := -1; missing < len(steps); missing++ {
		r := newRun(t).ofRecipes(locks)
		// All locks are used before the recovery, so that each must be acquired in it.
		for i, s := range steps {
			r.both(1+i, histories.Fail, 1, s.op, s.e)
		}
		r.phase(10, histories.PhaseRecovery)
		for i, s := range steps {
			typ := histories.OK
			if i == missing {
				typ = histories.Fail
			}
			r.both(11+i, typ, 1, s.op, s.e)
		}
		v := r.phase(2000, histories.PhaseEnd).report().Verdict(Progress)
		if missing < 0 {
			if v.Outcome != verdict.Holds {
				t.Errorf("nothing is missing: %v", v)
			}
			continue
		}
		if v.Outcome != verdict.Violated || !strings.Contains(v.Witnesses[0].What, steps[missing].what) {
			t.Errorf("%s: %v, %v", steps[missing].what, v, v.Witnesses)
		}
	}
}

func TestReadersAndWritersOfOneOwnerAreTwoHolds(t *testing.T) {
	r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
	write := histories.Event{Mode: histories.ModeWrite, Depth: 1, Token: tok(1), Session: session(1)}
	read := histories.Event{Mode: histories.ModeRead, Depth: 1, Token: tok(2), Session: session(1)}
	r.both(1, histories.OK, 1, histories.Acquire, write).both(2, histories.OK, 1, histories.Acquire, read).both(3, histories.OK, 1, histories.Release, write)
	r.expired(5, 1)
	// Of the two only the reader still held when the session ended.
	v := r.add(5, histories.Event{Type: histories.Lost, Process: 1, Lock: "a", Mode: histories.ModeRead}).report().Verdict(LossIsTold)
	if n, _ := v.Figure("sessions ended while holding"); n != 1 || v.Outcome != verdict.Holds {
		t.Error(v, v.Figures)
	}
}

func TestTheUseOfEachRecipeIsCounted(t *testing.T) {
	r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.MultiLock}, "b": {Recipe: histories.MultiLock}, "w": {Recipe: histories.Barrier}})
	r.pair(1, histories.Invoke, 1, histories.Acquire).pair(2, histories.OK, 1, histories.Acquire, 5, 5)
	r.op(2, histories.Invoke, 2, histories.Wait, histories.Event{Lock: "w"})
	r.fault(3, histories.FaultStart, "isolate").fault(4, histories.FaultStop, "isolate")
	r.op(5, histories.OK, 2, histories.Wait, histories.Event{Lock: "w"})
	want := []RecipeUse{
		{Recipe: histories.MultiLock, Locks: 2, Operations: 1, Got: 1, Held: 1},
		{Recipe: histories.Barrier, Locks: 1, Operations: 1, Got: 1, Awaited: 1},
	}
	rep := r.report()
	if !reflect.DeepEqual(rep.Recipes, want) {
		t.Errorf("got %+v, want %+v", rep.Recipes, want)
	}
	if row := rep.Coverage[0]; row.Met[Holding] != 1 || row.Met[Waiting] != 1 || row.Met[Idle] != 0 {
		t.Errorf("coverage: %+v", row)
	}
}

func TestFaultsThatMissARecipeHaveShownNothingOfIt(t *testing.T) {
	locks := map[string]histories.Lock{"a": {Recipe: histories.Mutex}, "s": {Recipe: histories.Semaphore, Size: 1}, "w": {Recipe: histories.Barrier}}
	permit := histories.Event{Lock: "s", Permits: 1, Depth: 1}
	for _, c := range []struct {
		name   string
		tested string
		holds  bool
		shown  bool
	}{
		{"a semaphore that was held", "mutex,semaphore", true, true}, {"one that was not", "mutex,semaphore", false, false},
		{"one that was not, and is not under test", "mutex", false, true}, {"recipes under test that are not known", "mine", false, false},
	} {
		r := newRun(t).ofRecipes(locks)
		r.h.Header.Recipe = c.tested
		r.want(0, 1).got(1, 1, 1).both(2, histories.OK, 2, histories.Acquire, permit)
		if !c.holds {
			r.op(3, histories.Invoke, 2, histories.Release, permit)
		}
		idle := r.fault(4, histories.FaultStart, "isolate").report().idle
		if (idle == "") != c.shown || !c.shown && !strings.Contains(idle, "no lease of semaphore") {
			t.Errorf("%s: %q", c.name, idle)
		}
	}
}

func TestPlacesWithoutTokensAreNotJudged(t *testing.T) {
	r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.NonReentrant}})
	r.want(1, 1).add(2, histories.Event{Type: histories.Enqueued, Process: 1, Lock: "a", Sequence: 4})
	r.op(3, histories.OK, 1, histories.Acquire, histories.Event{Depth: 1})
	if v := r.report().Verdict(Fairness); v.Outcome != verdict.NotJudged {
		t.Error(v)
	}
}
