package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestReentrancy(t *testing.T) {
	nested := func(r *run) *run { return r.want(0, 1).got(1, 1, 1).want(2, 1).deeper(3, 1, 1, 2) }
	answers(t, Reentrancy, []known{
		{"no process re-enters", func(r *run) { r.cycle(0, 1, 1, 1) }, verdict.NotExercised},
		{"an owner re-enters and releases twice", func(r *run) {
			nested(r).inner(4, 5, 1, 2).release(6, 1).released(7, 1).cycle(8, 9, 2, 2)
		}, verdict.Holds},
		{"the inner release frees the outer hold", func(r *run) {
			nested(r).want(4, 2).inner(5, 6, 1, 2).got(7, 2, 2).release(8, 1).released(9, 1)
		}, verdict.Violated},
		{"the lease is lost between the two releases", func(r *run) {
			nested(r).inner(5, 6, 1, 2).lost(7, 1).cycle(8, 9, 2, 2).release(10, 1).released(11, 1)
		}, verdict.Holds},
		{"the holder crashes between the two releases", func(r *run) {
			nested(r).inner(5, 6, 1, 2).crash(7, 1).cycle(8, 9, 2, 2)
		}, verdict.Holds},
		{"the session of the outer hold had ended, unseen", func(r *run) {
			nested(r).want(4, 2).expired(5, 1).inner(6, 7, 1, 2).got(8, 2, 2).release(9, 1).released(10, 1)
		}, verdict.Holds},
		{"the session of the outer hold is seen to end a little later", func(r *run) {
			nested(r).want(4, 2).inner(6, 7, 1, 2).got(8, 2, 2).expired(300, 1).release(900, 1).released(901, 1)
		}, verdict.Holds},
		{"the session of the outer hold is seen to end a little later, after its release", func(r *run) {
			nested(r).want(4, 2).inner(6, 7, 1, 2).got(8, 2, 2).release(9, 1).released(10, 1).expired(300, 1)
		}, verdict.Holds},
		{"the session of the outer hold is seen to end a little later, but its client made a node in it meanwhile", func(r *run) {
			nested(r).want(4, 2).inner(6, 7, 1, 2).got(8, 2, 2).release(9, 1).released(10, 1).want(11, 1).place(12, 1, 3).expired(300, 1)
		}, verdict.Violated},
		{"the session of another hold had ended", func(r *run) {
			nested(r).want(4, 2).expired(5, 3).inner(6, 7, 1, 2).got(8, 2, 2).release(9, 1).released(10, 1)
		}, verdict.Violated},
		{"the session of the outer hold was forced to expire", func(r *run) {
			r.h.Header.Promises.LossBound = 0
			nested(r).want(4, 2).robbed(5, 6, "s1", 1).inner(7, 8, 1, 2).got(9, 2, 2).release(10, 1).released(11, 1)
		}, verdict.Holds},
		{"another owner holds before the inner release, which is not its doing", func(r *run) {
			nested(r).cycle(4, 5, 2, 2).inner(6, 7, 1, 2).release(8, 1).released(9, 1)
		}, verdict.Holds},
		{"a re-entry forgets the depth", func(r *run) { r.want(0, 1).got(1, 1, 1).want(2, 1).got(3, 1, 1) }, verdict.Violated},
		{"a re-entry skips a depth", func(r *run) { r.want(0, 1).got(1, 1, 1).want(2, 1).deeper(3, 1, 1, 3) }, verdict.Violated},
		{"an owner re-enters what it lost", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).want(3, 1).deeper(4, 1, 1, 2)
		}, verdict.Violated},
		{"the lease is lost while the re-entry is under way", func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 1).deeper(3, 1, 1, 2).want(4, 1).lost(5, 1).deeper(6, 1, 1, 3)
		}, verdict.Holds},
		{"an inner release that failed gave up nothing", func(r *run) {
			e := histories.Event{Depth: 2}
			nested(r).op(4, histories.Invoke, 1, histories.Release, e).op(5, histories.Fail, 1, histories.Release, e).
				want(6, 1).deeper(7, 1, 1, 3)
		}, verdict.Holds},
		{"a target that promises none is not held to it", func(r *run) {
			r.h.Header.Promises.Reentrant = false
			r.want(0, 1).got(1, 1, 1).want(2, 1).got(3, 1, 1)
		}, verdict.NotPromised},
	})
}

func TestAnOwnerWhoReentersWhatItLostHoldsItInTheEyesOfOthers(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1).lost(2, 1).want(3, 2).got(4, 2, 2).want(5, 1).deeper(6, 1, 1, 2).release(9, 2).released(9, 2)
	if v := r.report().Verdict(MutualExclusion); v.Outcome != verdict.Violated {
		t.Error(v)
	}
}

func TestWhoLostOneOfSeveralLocksIsNotLetIntoAllAgain(t *testing.T) {
	const invoke, ok, fail, acquire = histories.Invoke, histories.OK, histories.Fail, histories.Acquire
	all := func(r *run, ms int, typ histories.Type, token, depth int) *run {
		e := histories.Event{Type: typ, Process: 1, Op: acquire, Depth: depth, Parts: []histories.Part{{Lock: "a"}, {Lock: "b"}}}
		if typ == ok {
			e.Parts[0].Token, e.Parts[1].Token, e.Session = tok(token), tok(token), session(1)
		}
		return r.add(ms, e)
	}
	lost := func(r *run) *run {
		all(all(r, 0, invoke, 0, 0), 1, ok, 5, 1)
		return r.add(2, histories.Event{Type: histories.Lost, Process: 1, Session: session(1), Parts: []histories.Part{{Lock: "a", Token: tok(5)}, {Lock: "b", Token: tok(5)}}})
	}
	locks := map[string]histories.Lock{"a": {Recipe: histories.MultiLock}, "b": {Recipe: histories.MultiLock}}
	let := `process 1 had lost lock "a" at 0.002000 s, and was let in again at 0.004000 s as if it still held it`
	tell(t, Reentrancy, locks, []told{
		{"an owner of several locks re-enters what it lost", func(r *run) { all(all(lost(r), 3, invoke, 0, 2), 4, ok, 5, 2) }, verdict.Violated, let, 2},
		{"an owner of several locks is refused what it lost", func(r *run) {
			lost(r).want(2, 2).got(2, 2, 6).want(2, 2).deeper(2, 2, 6, 2)
			all(all(r, 3, invoke, 0, 2), 4, fail, 0, 2)
		}, verdict.Holds, "", 0},
		{"an owner of several locks asks for them anew", func(r *run) {
			lost(r).want(2, 2).got(2, 2, 6).want(2, 2).deeper(2, 2, 6, 2).inner(2, 2, 2, 2).release(2, 2).released(2, 2)
			all(all(r, 3, invoke, 0, 0), 4, ok, 7, 1)
		}, verdict.Holds, "", 0},
	})
}
