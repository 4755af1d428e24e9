package checker

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// An acquire of several locks that waits for one as it holds the others may lose places by a fault alone.
func TestAnAcquireOfSeveralLocksKeepsItsPlaces(t *testing.T) {
	again := func(r *run, faulty bool) *run {
		r.h.Header.SessionTimeout = 600 * time.Millisecond
		for ms := 2500; ms < 5000; ms += 250 { // the servers answer
			r.both(ms, histories.OK, 3, histories.Acquire, histories.Event{Lock: "b", Token: tok(ms / 250), Depth: 1, Session: session(3)})
			if faulty && ms == 4000 {
				r.pause(ms, 1).wake(ms, 1)
			}
			r.both(ms, histories.OK, 3, histories.Release, histories.Event{Lock: "b", Token: tok(ms / 250), Depth: 1})
		}
		r.pair(5000, histories.Invoke, 1, histories.Acquire).place(5001, 1, 104).place(5002, 1, 106)
		return r.pair(5003, histories.OK, 1, histories.Acquire, 106, 107).pair(5004, histories.Invoke, 1, histories.Release).pair(5005, histories.OK, 1, histories.Release)
	}
	mixed := map[string]histories.Lock{"a": {Recipe: histories.MultiLock}, "b": {Recipe: histories.NonReentrant}}
	tell(t, Fairness, mixed, []told{
		{"it loses a place while no fault is near", func(r *run) { again(r, false) }, verdict.Violated, "process 1 had place 0x68 in the queue of lock \"a\" at 5.001000 s and took another, 0x6a, at 5.002000 s, though its session lived", 0},
		{"it loses a place by a fault", func(r *run) { again(r, true) }, verdict.NotExercised, "", 0},
	})
}

func TestSeveralLocksAreAcquiredAllOrNone(t *testing.T) {
	const (
		acquire, release = histories.Acquire, histories.Release
		invoke, ok, fail = histories.Invoke, histories.OK, histories.Fail
	)
	b := func(token int) histories.Event {
		return histories.Event{Lock: "b", Token: tok(token), Depth: 1, Session: session(2)}
	}
	in := func(r *run, ms int, lock string, p, token int) *run {
		return r.add(ms, histories.Event{Type: histories.Enqueued, Process: p, Lock: lock, Token: tok(token), Session: session(p)})
	}
	got := func(r *run) *run { return r.pair(1, invoke, 1, acquire).pair(5, ok, 1, acquire, 5, 5) }
	locks := map[string]histories.Lock{"a": {Recipe: histories.MultiLock}, "b": {Recipe: histories.MultiLock}}
	tell(t, AllOrNothing, locks, []told{
		{"no process asks for several", func(r *run) { r.cycle(1, 2, 1, 1) }, verdict.NotExercised, "", 0},
		{"somebody asks for several and gets none", func(r *run) { r.pair(1, invoke, 1, acquire).pair(2, fail, 1, acquire) }, verdict.NotExercised, "", 0},
		{"one gets them after the other", func(r *run) {
			got(r).pair(6, invoke, 2, acquire).pair(7, invoke, 1, release).pair(8, ok, 2, acquire, 6, 6).pair(9, ok, 1, release)
		}, verdict.Holds, "", 0},
		{"one part has no token", func(r *run) { r.pair(1, invoke, 1, acquire).pair(2, ok, 1, acquire, 5, 0) }, verdict.Violated,
			`process 1 acquired 2 locks at 0.002000 s, without a token for lock "b"`, 0},
		{"a target without tokens has none for its parts", func(r *run) {
			r.h.Header.Promises.Tokens = false
			r.pair(1, invoke, 1, acquire).pair(2, ok, 1, acquire, 0, 0)
		}, verdict.Holds, "", 0},
		{"another holds one of them", func(r *run) { got(r.both(0, ok, 2, acquire, b(4))) }, verdict.Violated,
			`process 1 acquired 2 locks at 0.005000 s, and had not got all of them: process 2 held lock "b", since 0.000000 s`, 0},
		{"another gets one of them meanwhile, alone", func(r *run) { got(r).both(6, ok, 2, acquire, b(6)) }, verdict.Holds, "", 0}, // for mutual exclusion
		{"a place of an acquire that failed is granted", func(r *run) {
			r.pair(1, invoke, 1, acquire)
			in(in(r, 2, "a", 1, 4), 2, "b", 1, 4).pair(3, fail, 1, acquire).both(4, ok, 1, acquire, b(4))
		}, verdict.Violated, `process 1 failed at 0.003000 s to acquire 2 locks, but its place in the queue of lock "b", token 0x4, was granted to process 1 at 0.004000 s`, 0},
		{"a place of an acquire that failed is given up", func(r *run) {
			r.pair(1, invoke, 1, acquire)
			in(in(r, 2, "a", 1, 4), 2, "b", 1, 4).pair(3, fail, 1, acquire).pair(4, invoke, 2, acquire).pair(5, ok, 2, acquire, 6, 6)
		}, verdict.Holds, "", 0},
		{"two wait in the same order", func(r *run) {
			r.pair(1, invoke, 1, acquire).pair(1, invoke, 2, acquire)
			in(in(in(in(r, 2, "a", 1, 4), 2, "b", 2, 6), 3, "b", 1, 4), 3, "a", 2, 6).pair(4, ok, 1, acquire, 4, 4)
		}, verdict.Holds, "", 0},
		{"one asks, gets its locks and gives them back in the instant in which another asks", func(r *run) {
			r.pair(1, invoke, 1, acquire).pair(1, invoke, 2, acquire)
			in(in(in(in(r, 1, "a", 1, 4), 1, "b", 1, 4), 1, "a", 2, 6), 1, "b", 2, 6)
			r.pair(1, ok, 2, acquire, 6, 6).pair(1, invoke, 2, release).pair(2, ok, 1, acquire, 4, 4)
		}, verdict.Holds, "", 0},
		{"two wait for each other", func(r *run) {
			r.pair(1, invoke, 1, acquire).pair(1, invoke, 2, acquire)
			in(in(in(in(r, 2, "a", 1, 4), 2, "b", 2, 5), 3, "b", 1, 6), 3, "a", 2, 7).pair(4, fail, 1, acquire).pair(5, ok, 2, acquire, 7, 5)
		}, verdict.Violated, `process 1 and process 2 waited for each other: the one was ahead in the queue of lock "a", the other in that of lock "b"`, 0},
		{"two wait for each other, one of them for longer", func(r *run) {
			r.pair(1, invoke, 1, acquire).pair(1, invoke, 2, acquire)
			in(in(in(in(r, 2, "a", 1, 4), 2, "b", 2, 5), 3, "b", 1, 6), 3, "a", 2, 7).pair(4, fail, 1, acquire).expired(6, 1).expired(8, 3).pair(9, ok, 2, acquire, 7, 5)
		}, verdict.Violated, `process 1 and process 2 waited for each other: the one was ahead in the queue of lock "a", the other in that of lock "b"`, 0},
		{"one gives up before they would wait for each other", func(r *run) {
			r.pair(1, invoke, 1, acquire).pair(1, invoke, 2, acquire)
			in(in(in(r, 2, "a", 1, 4), 2, "b", 2, 5), 3, "b", 1, 6).pair(4, fail, 1, acquire)
			in(r, 5, "a", 2, 7).pair(6, ok, 2, acquire, 7, 5)
		}, verdict.Holds, "", 0},
		{"one goes on in another session, and one of its places is not on record", func(r *run) {
			r.pair(1, invoke, 1, acquire).pair(1, invoke, 2, acquire)
			in(in(in(in(in(r, 2, "a", 1, 4), 2, "b", 1, 4), 3, "b", 2, 5), 3, "a", 2, 5), 4, "a", 1, 6).pair(5, fail, 1, acquire).pair(5, ok, 2, acquire, 5, 5)
		}, verdict.Holds, "", 0},
	})
}
