package checker

import (
	"context"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// asks invokes an acquire of n permits.
func (r *run) asks(ms, p, n int) *run {
	return r.op(ms, histories.Invoke, p, histories.Acquire, histories.Event{Permits: n})
}

func (r *run) gets(ms, p, n, token int) *run {
	return r.op(ms, histories.OK, p, histories.Acquire, histories.Event{Permits: n, Depth: 1, Token: tok(token), Session: session(p)})
}

// permits acquires n permits within one millisecond.
func (r *run) permits(ms, p, n, token int) *run { return r.asks(ms, p, n).gets(ms, p, n, token) }

// back releases n permits within one millisecond.
func (r *run) back(ms, p, n, token int) *run {
	return r.both(ms, histories.OK, p, histories.Release, histories.Event{Permits: n, Depth: 1, Token: tok(token)})
}

// resize changes the size of the semaphore.
func (r *run) resize(from, to, p, size int, typ histories.Type) *run {
	r.op(from, histories.Invoke, p, histories.SetSize, histories.Event{Size: size})
	return r.op(to, typ, p, histories.SetSize, histories.Event{Size: size})
}

// resizeBy changes the size by a transaction.
func (r *run) resizeBy(from, to, p, size, by int) *run {
	r.op(from, histories.Invoke, p, histories.SetSize, histories.Event{Size: size})
	return r.op(to, histories.OK, p, histories.SetSize, histories.Event{Size: size, Token: tok(by)})
}

// semaphore makes lock a a semaphore of size three.
func semaphore(recipe histories.Recipe, make func(*run)) func(*run) {
	return func(r *run) {
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: recipe, Size: 3}})
		make(r)
	}
}

func TestPermits(t *testing.T) {
	cases := []known{
		{"no permit is ever held", func(r *run) { r.asks(1, 1, 1) }, verdict.NotExercised},
		{"as many as there are", func(r *run) { r.permits(1, 1, 1, 1).permits(2, 2, 2, 2).back(3, 2, 2, 2).permits(4, 3, 2, 3) }, verdict.Holds},
		{"one more than there are", func(r *run) { r.permits(1, 1, 2, 1).permits(2, 2, 2, 2).back(3, 1, 2, 1) }, verdict.Violated},
		{"more than there are at once", func(r *run) { r.permits(1, 1, 4, 1) }, verdict.Violated},
		{"one process holds several", func(r *run) { r.permits(1, 1, 1, 1).permits(2, 1, 1, 2).permits(3, 1, 1, 3).back(4, 1, 1, 2) }, verdict.Holds},
		{"one process holds too many", func(r *run) { r.permits(1, 1, 2, 1).permits(2, 1, 2, 2) }, verdict.Violated},
		{"a token tells which of its own a process gives back", func(r *run) {
			r.permits(1, 1, 1, 1).permits(2, 1, 2, 2).back(3, 1, 2, 2).permits(4, 2, 2, 3).back(5, 1, 1, 1).back(6, 2, 2, 3)
		}, verdict.Holds},
		{"the other of its own is given back", func(r *run) {
			r.permits(1, 1, 1, 1).permits(2, 1, 2, 2).back(3, 1, 1, 1).permits(4, 2, 2, 3).back(5, 1, 2, 2)
		}, verdict.Violated},
		{"without tokens the number tells", func(r *run) {
			r.permits(1, 1, 1, 0).permits(2, 1, 2, 0).back(3, 1, 2, 0).permits(4, 2, 2, 0).back(5, 1, 1, 0)
		}, verdict.Holds},
		{"without tokens another process gives back its own", func(r *run) {
			r.permits(1, 1, 1, 0).permits(2, 2, 1, 0).back(3, 2, 1, 0).crash(4, 1).permits(5, 3, 3, 0)
		}, verdict.Holds},
		{"what is given back twice is given back once", func(r *run) {
			r.permits(1, 1, 1, 1).permits(2, 1, 2, 2).back(3, 1, 1, 1).back(4, 1, 1, 1).permits(5, 2, 2, 3).back(6, 1, 2, 2)
		}, verdict.Violated},
		{"an acquire that is never answered is no hold", func(r *run) { r.asks(1, 1, 3).permits(2, 2, 3, 1) }, verdict.Holds},
		{"an acquire whose answer is unknown is no hold", func(r *run) {
			r.asks(1, 1, 3).op(2, histories.Info, 1, histories.Acquire, histories.Event{Permits: 3}).permits(3, 2, 3, 1)
		}, verdict.Holds},
		{"a release that is never answered ends the belief", func(r *run) {
			r.permits(1, 1, 3, 1).op(2, histories.Invoke, 1, histories.Release, histories.Event{Permits: 3, Token: tok(1)}).permits(3, 2, 3, 2)
		}, verdict.Holds},
		{"a holder that was told of its loss holds nothing", func(r *run) {
			r.permits(1, 1, 3, 1).lost(2, 1).permits(3, 2, 3, 2)
		}, verdict.Holds},
		{"a holder is told of the loss of one lease of two", func(r *run) {
			r.permits(1, 1, 2, 1).permits(1, 1, 1, 2).add(2, histories.Event{Type: histories.Lost, Process: 1, Lock: "a", Token: tok(2)})
			r.permits(3, 2, 2, 3).back(4, 1, 2, 1)
		}, verdict.Violated},
		{"a holder that crashes holds nothing", func(r *run) { r.permits(1, 1, 3, 1).crash(2, 1).permits(3, 2, 3, 2) }, verdict.Holds},
		{"a release is invoked in the instant in which the next acquire returns", func(r *run) {
			r.permits(1, 1, 3, 1).asks(2, 2, 3).gets(5, 2, 3, 2).back(5, 1, 3, 1)
		}, verdict.Holds},
		{"a forced expiry excuses within the loss bound", func(r *run) {
			r.permits(1, 1, 3, 1).expire(10, 1).permits(12, 2, 3, 2).back(55, 1, 3, 1).back(70, 2, 3, 2)
		}, verdict.Holds},
		{"a forced expiry does not excuse beyond the loss bound", func(r *run) {
			r.permits(1, 1, 3, 1).expire(10, 1).permits(12, 2, 3, 2).back(65, 1, 3, 1).back(70, 2, 3, 2)
		}, verdict.Violated},
	}
	for i := range cases {
		cases[i].make = semaphore(histories.Semaphore, cases[i].make)
	}
	answers(t, Permits, cases)
}

func TestPermitsOfASizeThatChanges(t *testing.T) {
	const ok, info, fail = histories.OK, histories.Info, histories.Fail
	cases := []known{
		{"the size is raised before the grant", func(r *run) { r.permits(1, 1, 3, 1).resize(2, 3, 2, 5, ok).permits(4, 3, 2, 2) }, verdict.Holds},
		{"the size is raised after the grant", func(r *run) { r.permits(1, 1, 3, 1).permits(2, 3, 2, 2).resize(3, 4, 2, 5, ok) }, verdict.Violated},
		{"the size is being raised at the grant", func(r *run) {
			r.permits(1, 1, 3, 1).op(2, histories.Invoke, 2, histories.SetSize, histories.Event{Size: 5}).permits(3, 3, 2, 2).
				op(4, ok, 2, histories.SetSize, histories.Event{Size: 5})
		}, verdict.Holds},
		{"the size was to be raised, which failed", func(r *run) { r.permits(1, 1, 3, 1).resize(2, 3, 2, 5, fail).permits(4, 3, 2, 2) }, verdict.Violated},
		{"the size may have been raised: its change has no answer", func(r *run) { r.permits(1, 1, 3, 1).resize(2, 3, 2, 5, info).permits(4, 3, 2, 2) }, verdict.Holds},
		{"the size is lowered under those who hold", func(r *run) { r.permits(1, 1, 3, 1).resize(2, 3, 2, 1, ok).back(9, 1, 3, 1).permits(10, 3, 1, 2) }, verdict.Holds},
		{"a grant comes while more is held than there is", func(r *run) {
			r.permits(1, 1, 2, 1).resize(2, 3, 2, 1, ok).permits(4, 3, 1, 2).back(9, 1, 2, 1)
		}, verdict.Violated},
		{"an acquire that was under way when the size was lowered", func(r *run) {
			r.permits(1, 1, 2, 1).asks(1, 3, 1).resize(2, 3, 2, 1, ok).gets(4, 3, 1, 2)
		}, verdict.Holds},
		{"an acquire that was under way, but had no room before either", func(r *run) {
			r.permits(1, 1, 3, 1).asks(1, 3, 2).resize(2, 3, 2, 1, ok).back(4, 1, 3, 1).gets(5, 3, 2, 2)
		}, verdict.Violated},
		{"two that were under way, with room for one of them before", func(r *run) {
			r.permits(1, 1, 1, 1).asks(1, 3, 2).asks(1, 4, 2).resize(2, 3, 2, 1, ok).back(4, 1, 1, 1).gets(5, 3, 2, 2).back(6, 3, 2, 2).gets(7, 4, 2, 3)
		}, verdict.Violated},
		{"one that was under way took its permits before, so that another had no room", func(r *run) {
			r.asks(1, 3, 2).resize(2, 3, 2, 1, ok).permits(4, 4, 1, 2).gets(5, 3, 2, 3)
		}, verdict.Violated},
		{"the size was larger for a moment while the acquire was under way", func(r *run) {
			r.permits(1, 1, 3, 1).asks(1, 3, 2).resize(2, 3, 2, 5, ok).resize(4, 5, 2, 1, ok).gets(6, 3, 2, 2)
		}, verdict.Holds},
		{"two changes at a time, of which the larger may be the last", func(r *run) {
			r.op(1, histories.Invoke, 1, histories.SetSize, histories.Event{Size: 5}).resize(1, 2, 2, 1, ok).
				op(3, ok, 1, histories.SetSize, histories.Event{Size: 5}).permits(4, 3, 5, 1)
		}, verdict.Holds},
		// This needs a search: at each of the two grants the size can have been 5, but the
		// one change to 5 cannot have come both before and after the change to 1.
		{"two grants for which one change would have to take effect twice", func(r *run) {
			r.op(1, histories.Invoke, 1, histories.SetSize, histories.Event{Size: 5}).permits(2, 3, 5, 1).back(3, 3, 5, 1).
				resize(4, 5, 2, 1, ok).permits(6, 3, 5, 2).back(7, 3, 5, 2).op(8, ok, 1, histories.SetSize, histories.Event{Size: 5})
		}, verdict.Violated},
		{"permits are granted by a transaction before the size was lowered", func(r *run) {
			r.resizeBy(1, 1, 2, 5, 6).asks(1, 3, 2).resizeBy(2, 3, 2, 1, 8).gets(5, 3, 2, 7)
		}, verdict.Holds},
		{"permits are granted by a transaction after the size was lowered", func(r *run) {
			r.resizeBy(1, 1, 2, 5, 6).asks(1, 3, 2).resizeBy(2, 3, 2, 1, 7).gets(5, 3, 2, 8)
		}, verdict.Violated},
		{"permits are granted by a transaction between two sizes", func(r *run) {
			r.asks(1, 3, 2).resizeBy(2, 3, 2, 1, 7).resizeBy(4, 4, 2, 5, 9).gets(5, 3, 2, 8)
		}, verdict.Violated},
		{"permits are granted by a transaction after that of the larger size", func(r *run) {
			r.asks(1, 3, 2).resizeBy(2, 3, 2, 1, 7).resizeBy(4, 4, 2, 5, 8).gets(5, 3, 2, 9)
		}, verdict.Holds},
		{"a size whose transaction is unknown may have been in force at that of the grant", func(r *run) {
			r.asks(1, 3, 2).resizeBy(2, 3, 2, 1, 7).resize(4, 4, 2, 5, ok).gets(5, 3, 2, 9)
		}, verdict.Holds},
		{"a size that had been changed again before was not in force at the transaction of the grant", func(r *run) {
			r.asks(1, 3, 2).resize(1, 1, 2, 5, ok).resizeBy(2, 3, 2, 1, 7).gets(5, 3, 2, 9)
		}, verdict.Violated},
		{"what is held beyond the loss bound counts against no size", func(r *run) {
			r.permits(1, 1, 3, 1).resize(2, 3, 2, 1, ok).expire(10, 1).back(90, 1, 3, 1)
		}, verdict.Holds},
	}
	for i := range cases {
		cases[i].make = semaphore(histories.SharedSemaphore, cases[i].make)
	}
	answers(t, Permits, cases)
}

func TestAWitnessTellsWhoHeldHowManyPermits(t *testing.T) {
	const ok = histories.OK
	for _, c := range []struct {
		name string
		make func(*run)
		want string
	}{
		{"too many", func(r *run) {
			r.permits(1, 1, 1, 1).permits(2, 2, 1, 2).permits(3, 3, 2, 3).back(7, 2, 1, 2).back(8, 1, 1, 1)
		}, `process 3 was granted 2 permits of semaphore "a" at 0.003000 s while process 1 held 1, process 2 held 1: 4, and there are 3. No fault was active.`},
		{"at the end of a session", func(r *run) {
			r.permits(1, 1, 3, 1).fault(2, histories.FaultStart, "isolate", 1).expired(2, 1).permits(3, 2, 1, 2).back(9, 1, 3, 1)
		}, `process 2 was granted 1 permit of semaphore "a" at 0.003000 s while process 1 held 3: 4, and there are 3; the session of process 1 was seen to end at 0.002000 s. Fault isolate on client was active.`},
		{"too many since it asked", func(r *run) {
			r.permits(1, 1, 2, 1).resize(2, 3, 2, 1, ok).asks(4, 3, 1).gets(5, 3, 1, 2).back(9, 1, 2, 1)
		}, `process 3 was granted 1 permit of semaphore "a" at 0.005000 s while process 1 held 2: 3, and there had been 1 at most since it asked at 0.004000 s. No fault was active.`},
		{"no room since it asked", func(r *run) {
			r.permits(1, 1, 3, 1).asks(1, 3, 2).resize(2, 3, 2, 1, ok).back(4, 1, 3, 1).gets(5, 3, 2, 2)
		}, `process 3 was granted 2 permits of semaphore "a" at 0.005000 s: 2, for which there had been no room at any time since it asked at 0.001000 s. No fault was active.`},
		{"no room since it asked, but for another", func(r *run) {
			r.permits(1, 1, 2, 1).asks(1, 3, 2).resize(2, 3, 2, 2, ok).resize(4, 5, 2, 1, ok).back(6, 1, 2, 1).permits(7, 4, 1, 2).back(8, 4, 1, 2).gets(9, 3, 2, 3)
		}, `process 3 was granted 2 permits of semaphore "a" at 0.009000 s: 2, for which there had been no room at any time since it asked at 0.001000 s. No fault was active.`},
		{"no order of the changes", func(r *run) {
			r.op(1, histories.Invoke, 1, histories.SetSize, histories.Event{Size: 5}).permits(2, 3, 5, 1).back(3, 3, 5, 1).
				resize(4, 5, 2, 1, ok).permits(6, 3, 5, 2).back(7, 3, 5, 2).op(8, ok, 1, histories.SetSize, histories.Event{Size: 5})
		}, `in whatever order the changes of the size of semaphore "a" took effect, one of the grants between 0.001000 s and 0.008000 s found no room. No fault was active.`},
	} {
		r := newRun(t)
		recipe := histories.Semaphore
		if c.name != "too many" && c.name != "at the end of a session" {
			recipe = histories.SharedSemaphore
		}
		semaphore(recipe, c.make)(r)
		v := r.report().Verdict(Permits)
		if v.Outcome != verdict.Violated {
			t.Errorf("%s: %v", c.name, v)
			continue
		}
		if got := v.Witnesses[0].String(); v.Violations != 1 || got != c.want {
			t.Errorf("%s: %d violations:\n got %s\nwant %s", c.name, v.Violations, got, c.want)
		}
	}
}

func TestAReleaseEndsTheHoldThatItIsOf(t *testing.T) {
	r := newRun(t)
	semaphore(histories.Semaphore, func(r *run) { r.permits(1, 1, 1, 1).permits(2, 2, 1, 2).back(3, 1, 1, 1) })(r)
	holds := facts.Of(r.h).Holds
	if first, second := holds[0], holds[1]; first.Released != 3*time.Millisecond || first.Why != facts.ByRelease || second.Why != facts.StillHeld {
		t.Errorf("%+v, %+v", first, second)
	}
}

func TestASemaphoreOfUnknownSizeIsNotPassed(t *testing.T) {
	r := newRun(t)
	r.h.Header.Recipe = string(histories.Semaphore)
	if v := r.permits(1, 1, 1, 1).report().Verdict(Permits); v.Outcome != verdict.Unknown || v.Reason != `the history does not say how many permits "a" has` {
		t.Error(v)
	}
}

func TestWhatOnlyASearchDecidesIsUnknownWithoutIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		overlap bool
		want    verdict.Outcome
	}{
		{"the changes of the size follow one another", false, verdict.Holds},
		{"they overlap", true, verdict.Unknown},
	} {
		r := newRun(t)
		semaphore(histories.SharedSemaphore, func(r *run) {
			if c.overlap {
				r.op(1, histories.Invoke, 1, histories.SetSize, histories.Event{Size: 5}).resize(1, 2, 2, 1, histories.OK).
					op(3, histories.OK, 1, histories.SetSize, histories.Event{Size: 5})
			} else {
				r.resize(1, 1, 1, 5, histories.OK).resize(2, 3, 2, 1, histories.OK)
			}
			r.permits(4, 3, 1, 1)
		})(r)
		rep, err := Check(context.Background(), r.h, WithEngine(Interval))
		if err != nil {
			t.Fatal(err)
		}
		if v := rep.Verdict(Permits); v.Outcome != c.want {
			t.Errorf("%s: %v", c.name, v)
		}
	}
}
