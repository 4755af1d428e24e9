package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// hears records a notice about the acquire of process p.
func (r *run) hears(ms, p int, what string) *run {
	return r.says(ms, p, histories.Event{}, histories.Saying{Told: what})
}

// grants records the notice of the grant of a lease to process p.
func (r *run) grants(ms, p, token int) *run {
	return r.says(ms, p, histories.Event{Token: tok(token), Owner: "process 1"}, histories.Saying{Told: histories.ToldAcquired})
}

func TestAnObserverIsToldOneEndOfEachAcquire(t *testing.T) {
	const contends, gaveUp, unheard = histories.ToldAcquiring, histories.ToldGaveUp, histories.ToldUnheard
	const acquire, fail, ok, invoke = histories.Acquire, histories.Fail, histories.OK, histories.Invoke
	mixed := func(r *run) *run {
		return r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.NonReentrant}, "b": {Recipe: histories.MultiLock}})
	}
	for _, c := range []known{
		{"one of several that waits for a lock as it holds the others gives up, and gets the locks by another attempt", func(r *run) {
			mixed(r).pair(0, invoke, 1, acquire).hears(1, 1, contends).add(1, histories.Event{Type: histories.Says, Process: 1, Lock: "b", Session: session(1), Saying: &histories.Saying{Told: contends}}).hears(2, 1, gaveUp).hears(3, 1, contends).pair(4, ok, 1, acquire, 5, 5)
		}, verdict.Holds},
		{"one of several that waits for a lock as it holds the others gives up, and gets the locks", func(r *run) {
			mixed(r).pair(0, invoke, 1, acquire).hears(1, 1, contends).hears(2, 1, gaveUp).pair(4, ok, 1, acquire, 5, 5)
		}, verdict.Violated},
		{"one of several gives up, and gets the locks by another attempt", func(r *run) {
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.MultiLock}, "b": {Recipe: histories.MultiLock}})
			r.pair(0, invoke, 1, acquire).hears(1, 1, contends).hears(2, 1, gaveUp).hears(3, 1, contends).pair(4, ok, 1, acquire, 5, 5)
		}, verdict.Violated},
		{"it contends and gets the lock", func(r *run) { r.want(0, 1).hears(1, 1, contends).got(2, 1, 5).grants(3, 1, 5) }, verdict.Holds},
		{"it is told of the grant first", func(r *run) { r.want(0, 1).hears(1, 1, contends).grants(2, 1, 5).got(3, 1, 5) }, verdict.Holds},
		{"it contends and gives up", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).hears(2, 1, gaveUp).answer(3, fail, 1, acquire)
		}, verdict.Holds},
		{"it is refused at once", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).got(2, 1, 5).want(3, 2).answer(4, fail, 2, acquire)
		}, verdict.Holds},
		{"it enters again", func(r *run) { r.want(0, 1).hears(1, 1, contends).got(2, 1, 5).want(3, 1).deeper(4, 1, 5, 2) }, verdict.Holds},
		{"it crashes", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).crash(2, 1).want(3, 2).hears(4, 2, contends).got(5, 2, 6)
		}, verdict.Holds},
		{"no observer is told of acquires", func(r *run) { r.want(0, 1).got(2, 1, 5).tells(3, 1, 5, histories.ToldAcquired) }, verdict.Holds},
		{"it gives up and gets the lock", func(r *run) { r.want(0, 1).hears(1, 1, contends).hears(2, 1, gaveUp).got(3, 1, 5) }, verdict.Violated},
		{"it gives up twice", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).hears(2, 1, gaveUp).hears(2, 1, gaveUp).answer(3, fail, 1, acquire)
		}, verdict.Violated},
		{"it fails and has not given up", func(r *run) { r.want(0, 1).hears(1, 1, contends).answer(3, fail, 1, acquire) }, verdict.Violated},
		{"it gets the lock and has not contended", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).hears(2, 1, gaveUp).answer(3, fail, 1, acquire).want(4, 1).got(5, 1, 5)
		}, verdict.Violated},
		{"it gets the lock unheard, as another call of its owner is under way", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).hears(2, 1, gaveUp).answer(3, fail, 1, acquire)
			r.want(4, 1).hears(4, 1, unheard).grants(5, 1, 5).got(6, 1, 5).tells(7, 1, 5, histories.ToldReleased).release(7, 1).released(8, 1)
			r.want(9, 1).hears(9, 1, unheard).got(10, 1, 6).grants(11, 1, 6)
		}, verdict.Holds},
		{"it gets the lock unheard, before any other notice", func(r *run) {
			r.want(4, 1).hears(4, 1, unheard).grants(5, 1, 5).got(6, 1, 5).tells(7, 1, 5, histories.ToldReleased).release(7, 1).released(8, 1)
			r.want(9, 1).hears(9, 1, unheard).got(10, 1, 6).grants(11, 1, 6)
		}, verdict.Holds},
		{"it gets the lock unheard, of which it is told while it acquires again", func(r *run) {
			r.want(4, 1).hears(4, 1, unheard).got(6, 1, 5).release(7, 1).released(8, 1)
			r.want(9, 1).hears(9, 1, contends).grants(10, 1, 5).tells(10, 1, 5, histories.ToldReleased).hears(11, 1, gaveUp).answer(12, fail, 1, acquire)
		}, verdict.Holds},
		{"it gets the lock twice, once unheard", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).hears(2, 1, gaveUp).answer(3, fail, 1, acquire)
			r.want(4, 1).hears(4, 1, unheard).grants(5, 1, 5).got(6, 1, 5).grants(11, 1, 6)
		}, verdict.Violated},
		{"it has a place and has not contended", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).hears(2, 1, gaveUp).answer(3, fail, 1, acquire).want(4, 1).place(5, 1, 6).answer(6, fail, 1, acquire)
		}, verdict.Violated},
		{"another process, of which no observer is told, has a place", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).got(2, 1, 5).want(3, 2).place(4, 2, 6).answer(5, fail, 2, acquire)
		}, verdict.Holds},
		{"it contends twice", func(r *run) { r.want(0, 1).hears(1, 1, contends).hears(1, 1, contends).got(2, 1, 5) }, verdict.Violated},
		{"it contends to enter again", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).got(2, 1, 5).want(3, 1).hears(3, 1, contends).deeper(4, 1, 5, 2)
		}, verdict.Violated},
		{"it contends and acquires nothing", func(r *run) { r.hears(1, 1, contends).want(2, 1).got(3, 1, 5) }, verdict.Violated},
		{"it is granted the lock and gives up", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).grants(2, 1, 5).hears(3, 1, gaveUp).answer(4, fail, 1, acquire)
		}, verdict.Violated},
		{"it is granted the lock twice", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).got(2, 1, 5).grants(3, 1, 5).grants(4, 1, 6)
		}, verdict.Violated},
		{"it gives up for another reason than it returns", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).says(2, 1, histories.Event{Error: "closed"}, histories.Saying{Told: gaveUp})
			r.op(3, fail, 1, acquire, histories.Event{Error: "acquire a: deadline exceeded"})
		}, verdict.Violated},
		{"it gives up for the reason that it returns", func(r *run) {
			r.want(0, 1).hears(1, 1, contends).says(2, 1, histories.Event{Error: "closed"}, histories.Saying{Told: gaveUp})
			r.op(3, fail, 1, acquire, histories.Event{Error: "acquire a: closed"})
		}, verdict.Holds},
		{"one of several fails, and its locks were granted", func(r *run) {
			r.pair(0, invoke, 1, acquire).hears(1, 1, contends).grants(2, 1, 4).pair(3, fail, 1, acquire)
			r.want(4, 1).hears(5, 1, contends).got(6, 1, 6).grants(7, 1, 6).tells(7, 1, 6, histories.ToldReleased).release(8, 1).released(9, 1)
			r.want(14, 1).hears(15, 1, contends).got(16, 1, 7).grants(17, 1, 7)
		}, verdict.Holds},
		{"one of several fails, and has not given up", func(r *run) {
			r.pair(0, invoke, 1, acquire).hears(1, 1, contends).pair(3, fail, 1, acquire)
			r.want(4, 1).hears(5, 1, contends).got(6, 1, 6).grants(7, 1, 6).tells(7, 1, 6, histories.ToldReleased).release(8, 1).released(9, 1)
			r.want(14, 1).hears(15, 1, contends).got(16, 1, 7).grants(17, 1, 7)
		}, verdict.Violated},
		{"one of several fails, and has given up", func(r *run) {
			r.pair(0, invoke, 1, acquire).hears(1, 1, contends).hears(2, 1, gaveUp).pair(3, fail, 1, acquire)
			r.both(4, ok, 1, acquire, histories.Event{Lock: "b", Token: tok(6), Depth: 1, Session: session(1)})
		}, verdict.Violated}, // "b" was not told to contend
	} {
		judged(t, c)
	}
}

func TestAnObserverIsToldOfEachRequestToRelease(t *testing.T) {
	const asked = histories.ToldRevokeRequested
	holds := func(r *run) *run {
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Revocation}})
		return r.want(0, 1).hears(1, 1, histories.ToldAcquiring).got(2, 1, 5)
	}
	for _, c := range []known{
		{"it is told, and the listener", func(r *run) { holds(r).revoke(3, 4, 2, 5, histories.OK).tells(5, 1, 5, asked).told(5, 1, 5) }, verdict.Holds},
		{"no client has asked", func(r *run) { holds(r).tells(5, 1, 5, asked) }, verdict.Violated},
		{"the listener is told alone", func(r *run) { holds(r).revoke(3, 4, 2, 5, histories.OK).told(5, 1, 5) }, verdict.Violated},
		{"the listener is told alone by a target that tells no observer", func(r *run) {
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Revocation}})
			r.want(0, 1).got(2, 1, 5).tells(3, 1, 5, histories.ToldAcquired).revoke(3, 4, 2, 5, histories.OK).told(5, 1, 5)
		}, verdict.Holds},
	} {
		judged(t, c)
	}
}

// judged judges a history by AnswersAreTrue.
func judged(t *testing.T, c known) {
	t.Run(c.name, func(t *testing.T) {
		r := newRun(t)
		c.make(r)
		if v := r.report().Verdict(AnswersAreTrue); v.Outcome != c.want {
			t.Errorf("got %v, want %s; %v", v, c.want, v.Witnesses)
		}
	})
}
