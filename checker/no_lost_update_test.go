package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestNoLostUpdatePlain(t *testing.T) {
	in := func(r *run, at, p int) *run { return r.want(at, p).got(at, p, at+1) }
	out := func(r *run, at, p int) *run { return r.release(at, p).released(at, p) }
	answers(t, NoLostUpdatePlain, []known{
		{"nothing is written", func(r *run) { r.cycle(0, 1, 1, 1) }, verdict.NotExercised},
		{"a chain of increments", func(r *run) {
			out(in(r, 0, 1).reads(1, 1, 0).writes(2, 1, 1), 3, 1)
			out(in(r, 4, 2).reads(5, 2, 1).writes(6, 2, 2).reads(7, 2, 2).writes(8, 2, 3), 9, 2)
		}, verdict.Holds},
		{"two write the same value", func(r *run) {
			in(r, 0, 1).reads(1, 1, 0)
			out(in(r, 2, 2).reads(3, 2, 0).writes(4, 2, 1), 5, 2)
			out(r.writes(6, 1, 1), 7, 1)
		}, verdict.Violated},
		{"the counter goes back", func(r *run) {
			in(r, 0, 1).reads(1, 1, 0).writes(2, 1, 1).reads(3, 1, 1)
			out(in(r, 4, 2).reads(5, 2, 1).writes(6, 2, 2).reads(7, 2, 2).writes(8, 2, 3), 9, 2)
			out(r.writes(10, 1, 2), 11, 1)
		}, verdict.Violated},
		{"a read sees that the counter went back", func(r *run) {
			out(in(r, 0, 1).reads(1, 1, 0).writes(2, 1, 1), 3, 1)
			out(in(r, 4, 2).reads(5, 2, 0), 6, 2)
			out(in(r, 7, 2).reads(8, 2, 1).writes(9, 2, 2), 10, 2)
		}, verdict.Violated},
		{"a write is no increment", func(r *run) { out(in(r, 0, 1).reads(1, 1, 0).writes(2, 1, 2), 3, 1) }, verdict.Violated},
		{"a value that was never written is missing", func(r *run) {
			out(in(r, 0, 1).reads(1, 1, 0).writes(2, 1, 1), 3, 1)
			out(in(r, 4, 2).reads(5, 2, 2).writes(6, 2, 3), 7, 2)
		}, verdict.Violated},
		{"the missing value was written without an answer", func(r *run) {
			out(in(r, 0, 1).reads(1, 1, 0).writes(2, 1, 1), 3, 1)
			in(r, 4, 3).reads(5, 3, 1).counter(6, 3, histories.Write, 2, histories.Info).lost(7, 1)
			out(in(r, 8, 2).reads(9, 2, 2).writes(10, 2, 3), 11, 2)
		}, verdict.Holds},
		{"a write that was refused changes nothing", func(r *run) {
			out(in(r, 0, 1).reads(1, 1, 0).counter(2, 1, histories.Write, 1, histories.Fail), 3, 1)
			out(in(r, 4, 2).reads(5, 2, 0).writes(6, 2, 1), 7, 2)
		}, verdict.Holds},
		{"a forced expiry excuses a lost update within the bound, and what follows from it", func(r *run) {
			in(r, 0, 1).reads(1, 1, 0).expire(2, 1)
			out(in(r, 3, 2).reads(4, 2, 0).writes(5, 2, 1).reads(6, 2, 1).writes(7, 2, 2), 8, 2)
			r.writes(9, 1, 1).lost(10, 1)
			out(in(r, 11, 2).reads(12, 2, 1).writes(13, 2, 2).reads(14, 2, 2).writes(15, 2, 3), 16, 2)
		}, verdict.Holds},
		{"another sees what an excused write does while it is under way", func(r *run) {
			in(r, 0, 1).reads(1, 1, 0).expire(2, 1)
			in(r, 3, 2).reads(4, 2, 0).writes(5, 2, 1).reads(6, 2, 1).writes(7, 2, 2)
			w := histories.Event{Store: histories.StorePlain, Value: 1}
			r.op(8, histories.Invoke, 1, histories.Write, w).reads(9, 2, 1).reads(10, 2, 1).op(11, histories.OK, 1, histories.Write, w).lost(12, 1)
			out(r, 13, 2)
		}, verdict.Holds},
		{"a lost update long after the excuse counts", func(r *run) {
			in(r, 0, 1).reads(1, 1, 0).expire(2, 1)
			out(in(r, 3, 2).reads(4, 2, 0).writes(5, 2, 1), 8, 2)
			r.writes(9, 1, 1).lost(10, 1)
			in(r, 100, 2).reads(101, 2, 1)
			out(in(r, 102, 3).reads(103, 3, 1).writes(104, 3, 2), 105, 3)
			out(r.writes(106, 2, 2), 107, 2)
		}, verdict.Violated},
		{"a forced expiry excuses nothing beyond the bound", func(r *run) {
			in(r, 0, 1).reads(1, 1, 0).expire(2, 1)
			out(in(r, 3, 2).reads(4, 2, 0).writes(5, 2, 1), 6, 2)
			r.writes(60, 1, 1).lost(61, 1)
		}, verdict.Violated},
		{"a holder that had been told writes nevertheless, which is not the lock's doing", func(r *run) {
			in(r, 0, 1).reads(1, 1, 0).lost(2, 1)
			out(in(r, 3, 2).reads(4, 2, 0).writes(5, 2, 1), 6, 2)
			r.writes(7, 1, 1)
		}, verdict.Holds},
	})
}

// inStore moves the counter of a history to another store.
func inStore(store string, make func(*run)) func(*run) {
	return func(r *run) {
		make(r)
		for i := range r.h.Events {
			if e := &r.h.Events[i]; e.Store != "" {
				e.Store = store
			}
		}
	}
}

func TestNoLostUpdateGuarded(t *testing.T) {
	guarded := func(make func(*run)) func(*run) {
		make = inStore(histories.StoreGuarded, make)
		return func(r *run) {
			r.h.Header.Promises.Guards = true
			make(r)
		}
	}
	answers(t, NoLostUpdateGuarded, []known{
		{"the transaction of a holder that was told is refused", guarded(func(r *run) {
			r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).expire(2, 1).lost(3, 1).want(4, 2).got(4, 2, 2).reads(5, 2, 0).writes(6, 2, 1).
				counter(7, 1, histories.Write, 1, histories.Fail)
		}), verdict.Holds},
		{"a write that lands after the next holder's is excused by nothing, not even by the word of the loss", guarded(func(r *run) {
			r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).expire(2, 1).lost(3, 1).want(4, 2).got(4, 2, 2).reads(5, 2, 0).writes(6, 2, 1).
				writes(7, 1, 1)
		}), verdict.Violated},
		{"a holder that does not know what came of its write crashes; it came to something", guarded(func(r *run) {
			w := histories.Event{Store: histories.StoreGuarded, Value: 1}
			r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).op(2, histories.Invoke, 1, histories.Write, w).crash(3, 1).
				want(4, 2).got(4, 2, 2).reads(5, 2, 1).writes(6, 2, 2)
		}), verdict.Holds},
		{"it came to nothing", guarded(func(r *run) {
			w := histories.Event{Store: histories.StoreGuarded, Value: 1}
			r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).op(2, histories.Invoke, 1, histories.Write, w).crash(3, 1).
				want(4, 2).got(4, 2, 2).reads(5, 2, 0).writes(6, 2, 1)
		}), verdict.Holds},
		{"only the plain counter is written", func(r *run) { r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).writes(2, 1, 1) }, verdict.NotPromised},
	})
}

// fenced uses the fence with a token; it refuses what fails.
func (r *run) fenced(ms, p int, op histories.Op, token int, typ histories.Type) *run {
	e := histories.Event{Store: histories.StoreFenced, Token: tok(token)}
	if op == histories.Write {
		e.Value = 1
	}
	r.op(ms, histories.Invoke, p, op, e)
	e.Refused = typ == histories.Fail
	return r.op(ms, typ, p, op, e)
}

func TestNoLostUpdateFenced(t *testing.T) {
	fenced := func(make func(*run)) func(*run) { return inStore(histories.StoreFenced, make) }
	answers(t, NoLostUpdateFenced, []known{
		{"the fence refuses the stale write", fenced(func(r *run) {
			r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).expire(2, 1).want(3, 2).got(3, 2, 2).reads(4, 2, 0).writes(5, 2, 1).
				counter(6, 1, histories.Write, 1, histories.Fail).lost(7, 1)
		}), verdict.Holds},
		{"a forced expiry does not excuse what the fence let through", fenced(func(r *run) {
			r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).expire(2, 1).want(3, 2).got(3, 2, 2).reads(4, 2, 0).writes(5, 2, 1).
				writes(6, 1, 1).lost(7, 1)
		}), verdict.Violated},
		{"only the plain counter is written", func(r *run) { r.want(0, 1).got(0, 1, 1).reads(1, 1, 0).writes(2, 1, 1) }, verdict.NotExercised},
		{"the fence refuses a token, and has seen no newer one", func(r *run) {
			r.want(0, 1).got(0, 1, 3).fenced(1, 1, histories.Read, 3, histories.OK).fenced(2, 1, histories.Write, 3, histories.Fail)
		}, verdict.Violated},
		{"the fence refuses an older token than it has seen", func(r *run) {
			r.want(0, 1).got(0, 1, 3).fenced(1, 1, histories.Read, 3, histories.OK).expire(2, 1).want(3, 2).got(3, 2, 4).
				fenced(4, 2, histories.Read, 4, histories.OK).fenced(5, 2, histories.Write, 4, histories.OK).fenced(6, 1, histories.Write, 3, histories.Fail)
		}, verdict.Holds},
	})
}
