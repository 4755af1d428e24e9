package checker

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// revoke asks for the release of the lease with a token.
func (r *run) revoke(from, to, p, token int, typ histories.Type) *run {
	e := histories.Event{Token: tok(token)}
	return r.op(from, histories.Invoke, p, histories.Revoke, e).op(to, typ, p, histories.Revoke, e)
}

func (r *run) told(ms, p, token int) *run {
	return r.add(ms, histories.Event{Type: histories.RevokeRequested, Process: p, Lock: "a", Token: tok(token), Session: session(p)})
}

func TestALeaderIsAskedToResign(t *testing.T) {
	election := map[string]histories.Lock{"a": {Recipe: histories.Election}}
	tell(t, Revocation, election, []told{
		{"the leader is told in time", func(r *run) { r.want(1, 1).got(2, 1, 5).revoke(3, 4, 2, 5, histories.OK).told(14, 1, 5).release(50, 1) }, verdict.Holds, "", 0},
		{"the leader is never told", func(r *run) { r.want(1, 1).got(2, 1, 5).revoke(3, 4, 2, 5, histories.OK).release(50, 1) }, verdict.Violated,
			`process 2 asked for the release of lock "a" at 0.003000 s and was answered at 0.004000 s; process 1 held it with token 0x5 and had to be told by 0.014000 s, but was not`, 0},
	})
	r := newRun(t).ofRecipes(election)
	r.h.Header.Promises.RevokeBound = 10 * time.Millisecond
	r.want(1, 1).got(2, 1, 5).release(50, 1)
	if v := r.report().Verdict(Revocation); v.Outcome != verdict.NotExercised || v.Expected {
		t.Errorf("where no client asks the leader the verdict is %v, expected: %t", v.Outcome, v.Expected)
	}
}

func TestAHolderIsAskedToRelease(t *testing.T) {
	const ok, info = histories.OK, histories.Info
	holds := func(r *run) *run { return r.want(1, 1).got(2, 1, 5) }
	linked := func(r *run, ms int) *run {
		link := histories.Event{Type: histories.Suspended, Process: 1, Lock: "a", Session: session(1)}
		r.add(ms-1, link)
		link.Type = histories.Resumed
		return r.add(ms, link)
	}
	untold := `process 2 asked for the release of lock "a" at 0.003000 s and was answered at 0.004000 s; process 1 held it with token 0x5 and had to be told by 0.014000 s, but was not`
	// The bound is 10 ms, a session lives for 2 s.
	tell(t, Revocation, map[string]histories.Lock{"a": {Recipe: histories.Revocation}}, []told{
		{"no process asks", func(r *run) { holds(r).release(50, 1).released(51, 1) }, verdict.NotExercised, "", 0},
		{"the holder is told in time", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).told(14, 1, 5).release(50, 1) }, verdict.Holds, "", 0},
		{"the holder is told before the answer", func(r *run) {
			e := histories.Event{Token: tok(5)}
			holds(r).op(3, histories.Invoke, 2, histories.Revoke, e).told(4, 1, 5).op(5, ok, 2, histories.Revoke, e).release(50, 1)
		}, verdict.Holds, "", 0},
		{"the holder is told late", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).told(15, 1, 5).release(50, 1) }, verdict.Violated,
			`process 2 asked for the release of lock "a" at 0.003000 s and was answered at 0.004000 s; process 1 held it with token 0x5 and had to be told by 0.014000 s, but was told only at 0.015000 s`, 0},
		{"the holder is told late, but soon after its link is up again", func(r *run) { linked(holds(r).revoke(3, 4, 2, 5, ok), 8).told(15, 1, 5).release(50, 1) }, verdict.Holds, "", 0},
		{"the holder is told long after its link is up again", func(r *run) { linked(holds(r).revoke(3, 4, 2, 5, ok), 8).told(25, 1, 5).release(50, 1) }, verdict.Violated,
			`process 2 asked for the release of lock "a" at 0.003000 s and was answered at 0.004000 s; process 1 held it with token 0x5 and had to be told by 0.018000 s, but was told only at 0.025000 s`, 0},
		{"the holder is told when its link breaks and is up again long after the bound", func(r *run) { linked(holds(r).revoke(3, 4, 2, 5, ok), 30).told(32, 1, 5).release(50, 1) }, verdict.Violated,
			`process 2 asked for the release of lock "a" at 0.003000 s and was answered at 0.004000 s; process 1 held it with token 0x5 and had to be told by 0.014000 s, but was told only at 0.032000 s`, 0},
		{"the holder is never told", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).release(50, 1) }, verdict.Violated, untold, 0},
		{"the holder is never told and holds on", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).want(50, 3) }, verdict.Violated, untold, 0},
		{"the history ends before the bound does", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).want(14, 3) }, verdict.NotExercised, "", 0},
		{"the holder releases before the bound has passed", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).release(14, 1).released(50, 1) }, verdict.NotExercised, "", 0},
		{"the holder loses its lease before the bound has passed", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).lost(14, 1).expired(20, 1).want(50, 3) }, verdict.NotExercised, "", 0},
		{"the holder's session is expired by force before the bound has passed", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).expire(10, 1).expired(11, 1).lost(30, 1).want(50, 3)
		}, verdict.NotExercised, "", 0},
		{"the holder's session is expired by force, unseen", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).expire(10, 1).lost(30, 1).want(50, 3)
		}, verdict.NotExercised, "", 0},
		{"the holder's session has ended and it goes on", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).expired(12, 1).want(50, 3) }, verdict.NotExercised, "", 0},
		{"the second request is not told", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).revoke(6, 7, 3, 5, ok).release(50, 1)
		}, verdict.Violated, `process 3 asked for the release of lock "a" at 0.006000 s and was answered at 0.007000 s; process 1 held it with token 0x5 and had to be told by 0.017000 s, but was not`, 0},
		{"two requests are told as one", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).revoke(5, 6, 3, 5, ok).told(7, 1, 5).release(50, 1) }, verdict.Holds, "", 0},
		{"a request is told twice", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).told(6, 1, 5).release(50, 1) }, verdict.Holds, "", 0},
		{"a request comes before the grant", func(r *run) { r.want(1, 1).revoke(2, 3, 2, 5, ok).got(20, 1, 5).told(30, 1, 5).release(50, 1) }, verdict.Holds, "", 0},
		{"a request that came before the grant is not told", func(r *run) { r.want(1, 1).revoke(2, 3, 2, 5, ok).got(20, 1, 5).release(50, 1) }, verdict.Violated,
			`process 2 asked for the release of lock "a" at 0.002000 s and was answered at 0.003000 s; process 1 held it with token 0x5 and had to be told by 0.030000 s, but was not`, 0},
		{"a request without an answer is not told", func(r *run) { holds(r).told(2, 1, 5).revoke(3, 4, 2, 5, info).release(50, 1) }, verdict.Violated,
			`process 1 was told at 0.002000 s to release lock "a" with token 0x5, and no process had asked for that`, 0},
		{"a request without an answer is told", func(r *run) { holds(r).revoke(3, 4, 2, 5, info).told(40, 1, 5).release(50, 1) }, verdict.NotExercised, "", 0},
		{"a request that failed is told", func(r *run) { holds(r).revoke(3, 4, 2, 5, histories.Fail).told(5, 1, 5).release(50, 1) }, verdict.Violated,
			`process 1 was told at 0.005000 s to release lock "a" with token 0x5, and no process had asked for that`, 0},
		{"the request was for another lease", func(r *run) { holds(r).revoke(3, 4, 2, 4, ok).told(5, 1, 5).release(50, 1) }, verdict.Violated,
			`process 1 was told at 0.005000 s to release lock "a" with token 0x5, and no process had asked for that`, 0},
		{"another process is told", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).told(6, 3, 5).release(50, 1) }, verdict.Violated,
			`process 3 was told at 0.006000 s to release lock "a" with token 0x5, which is that of process 1`, 0},
		{"the holder is told of a lease that does not exist", func(r *run) { holds(r).revoke(3, 4, 2, 9, ok).told(5, 1, 9).release(50, 1) }, verdict.Violated,
			`process 1 was told at 0.005000 s to release lock "a" with token 0x9, which does not exist`, 0},
		{"the holder is told after its lease", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).release(5, 1).released(6, 1).told(7, 1, 5) }, verdict.Holds, "", 0},
		{"the holder is told once more, long after its lease and the request", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).release(6, 1).released(7, 1).want(100, 3).got(101, 3, 6).told(120, 1, 5).release(130, 3)
		}, verdict.Holds, "", 0},
		{"the holder is told while its acquire returns", func(r *run) { r.want(1, 1).revoke(2, 3, 2, 5, ok).told(4, 1, 5).got(5, 1, 5).release(9, 1) }, verdict.Holds, "", 0},
		{"a holder whose acquire is not on record is told", func(r *run) { r.want(1, 1).revoke(2, 3, 2, 5, ok).told(4, 1, 5).crash(5, 1) }, verdict.NotExercised, "", 0},
		{"the holder loses its lease by the request", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).lost(6, 1).want(20, 1).got(21, 1, 6).release(22, 1).released(23, 1)
		}, verdict.Violated, `process 1 held lock "a" with token 0x5 and was asked to release it; it lost it at 0.006000 s, although its session lived on and no fault was about`, 0},
		{"the holder loses its lease after a fault", func(r *run) {
			r.fault(0, histories.FaultStart, "isolate", 1).fault(0, histories.FaultStop, "isolate", 1)
			holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).lost(6, 1).want(20, 1).got(21, 1, 6).release(22, 1).released(23, 1)
		}, verdict.Holds, "", 0},
		{"the holder loses its lease, and its session may have ended", func(r *run) { holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).lost(6, 1) }, verdict.Holds, "", 0},
		{"another loses its own long after, which was not asked", func(r *run) {
			b := histories.Event{Lock: "b", Token: tok(7), Depth: 1, Session: session(3)}
			r.h.Header.Locks["b"] = histories.Lock{Recipe: histories.Mutex}
			holds(r).both(2, ok, 3, histories.Acquire, b).revoke(3, 4, 2, 5, ok).told(5, 1, 5).lost(6, 1).
				want(20, 1).got(21, 1, 6).release(22, 1).released(23, 1).
				add(900, histories.Event{Type: histories.Lost, Process: 3, Lock: "b", Session: session(3)})
		}, verdict.Holds, "", 0},
		{"the holder loses its lease when the servers have given no answer for half a session timeout", func(r *run) {
			holds(r).revoke(1003, 1004, 2, 5, ok).told(1005, 1, 5).lost(1006, 1).want(1020, 1).got(1021, 1, 6).release(1022, 1).released(1023, 1)
		}, verdict.Holds, "", 0},
		{"the holder loses its lease, and the servers give no answer for half a session timeout then", func(r *run) {
			b := histories.Event{Lock: "b"}
			r.h.Header.Locks["b"] = histories.Lock{Recipe: histories.Mutex}
			holds(r).both(900, ok, 3, histories.Acquire, b).revoke(1003, 1004, 2, 5, ok).told(1005, 1, 5).lost(1006, 1).
				want(2100, 1).got(2101, 1, 6).release(2102, 1).released(2103, 1)
		}, verdict.Holds, "", 0},
		{"the servers have given no answer for a little less, and before", func(r *run) {
			b := histories.Event{Lock: "b"}
			r.h.Header.Locks["b"] = histories.Lock{Recipe: histories.Mutex}
			holds(r).both(2, ok, 3, histories.Acquire, b).both(1500, ok, 3, histories.Release, b).both(1600, ok, 3, histories.Acquire, b).both(2500, ok, 3, histories.Release, b)
			r.both(2590, ok, 3, histories.Acquire, b).both(3580, ok, 3, histories.Release, b).both(3580, ok, 3, histories.Acquire, b)
			r.revoke(3603, 3604, 2, 5, ok).told(3605, 1, 5).lost(3606, 1).want(3620, 1).got(3621, 1, 6).release(3622, 1).released(3623, 1)
		}, verdict.Violated, `process 1 held lock "a" with token 0x5 and was asked to release it; it lost it at 3.606000 s, although its session lived on and no fault was about`, 0},
		{"the holder loses its lease long after the request", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).told(5, 1, 5).lost(16, 1).want(20, 1).got(21, 1, 6).release(22, 1).released(23, 1)
		}, verdict.Holds, "", 0},
		{"others lose theirs too, which were not asked", func(r *run) {
			b := histories.Event{Lock: "b", Token: tok(7), Depth: 1, Session: session(3)}
			r.h.Header.Locks["b"] = histories.Lock{Recipe: histories.Mutex}
			holds(r).both(2, ok, 3, histories.Acquire, b).revoke(3, 4, 2, 5, ok).told(5, 1, 5).lost(6, 1).
				add(7, histories.Event{Type: histories.Lost, Process: 3, Lock: "b", Session: session(3)}).
				want(20, 1).got(21, 1, 6).release(22, 1).released(23, 1)
		}, verdict.Holds, "", 0},
	})
}

func TestATargetThatBoundsNoRequestIsNotHeldToIt(t *testing.T) {
	r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Revocation}})
	r.want(1, 1).got(2, 1, 5).revoke(3, 4, 2, 5, histories.OK).release(5000, 1)
	if v := r.report().Verdict(Revocation); v.Outcome != verdict.NotPromised || v.Promised {
		t.Error(v)
	}
}
