package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Of three permits process 1 has two, and process 2 stands first in the queue for two from 5011
// on.
func shortOfPermits(r *run) *run {
	return r.promising().permitsAt(5000, 1, 2, 1).asks(5010, 2, 2).stands(5011, 2, 20)
}

// stands reports to an acquire the number of its place.
func (r *run) stands(ms, p, number int) *run {
	return r.add(ms, histories.Event{Type: histories.Enqueued, Process: p, Lock: "a", Sequence: number, Session: session(p)})
}

// permitsAt acquires n permits, with a place in the queue.
func (r *run) permitsAt(ms, p, n, token int) *run {
	return r.asks(ms, p, n).stands(ms+1, p, token).gets(ms+2, p, n, token)
}

// end shows that the sessions of processes 1, 2 and 3 live on.
func (r *run) end(ms int) *run {
	for p := range 3 {
		r.permits(ms+10*p, p+1, 1, 50+p).back(ms+10*p+5, p+1, 1, 50+p)
	}
	return r.phase(ms+50, histories.PhaseChaos)
}

// permitsLate grants process 2 the permits that it waits for, and releases them.
func (r *run) permitsLate(ms int) *run {
	return r.awake(ms).gets(ms, 2, 2, 20).back(ms+1, 2, 2, 20).end(ms + 8000)
}

// lineByNumber is line for a lock whose places have numbers: process 2 waits, and so does
// process 3, with the given number, until it crashes.
func (r *run) lineByNumber(third int) *run {
	r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.NonReentrant}})
	r.promising().want(5000, 1).stands(5001, 1, 1).got(5002, 1, 1).want(5010, 2).want(5011, 3).stands(5012, 2, 3)
	if third > 0 {
		r.stands(5013, 3, third)
	}
	return r.crash(5050, 3).release(5100, 1).released(5101, 1)
}

// renumbered is a queue that all contenders had left, so that its numbers began anew with
// process 2. Before that process 4 got the lock and released it, and process 3 crashed, so that
// it is not known whether the lock is its own. old is the process that was told the number 9
// before 2 came; the other one was told 8 at the same time as 2 was told its own number.
func (r *run) renumbered(old int) *run {
	r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.NonReentrant}})
	r.promising().want(4990, 7-old)
	r.want(5000, old).stands(5001, old, 9)
	r.want(5010, 2).stands(5011, 7-old, 8).stands(5012, 2, 0)
	return r.got(5013, 4, 1).release(5014, 4).released(5015, 4).crash(5050, 3)
}

func TestWhoIsFirstIsWokenByNumber(t *testing.T) {
	answers(t, Progress, []known{
		{"a waiter with a number sleeps on when the lock is given back", func(r *run) { r.lineByNumber(4).grant(7000, 2, 1) }, verdict.Violated},
		{"a waiter with a number is woken when the lock is given back", func(r *run) { r.lineByNumber(4).grant(6000, 2, 1) }, verdict.Holds},
		{"a waiter sleeps on behind one with a smaller number that has crashed", func(r *run) { r.lineByNumber(2).grant(7000, 2, 1) }, verdict.Holds},
		{"a waiter sleeps on while one that crashed before the numbers began anew has the lock", func(r *run) { r.renumbered(3).grant(7000, 2, 4) }, verdict.Holds},
		{"a waiter sleeps on while one that crashed as the numbers began anew may have the lock", func(r *run) {
			r.renumbered(4).grant(7000, 2, 4)
		}, verdict.Holds},
		{"a waiter sleeps on, perhaps behind one with an unknown number that has crashed", func(r *run) { r.lineByNumber(0).grant(7000, 2, 1) }, verdict.Holds},
	})
}

func TestWhoIsFirstIsWokenWhenThereIsRoom(t *testing.T) {
	const ok, fail, info = histories.OK, histories.Fail, histories.Info
	of := func(make func(*run)) func(*run) { return semaphore(histories.SharedSemaphore, make) }
	answers(t, Progress, []known{
		{"a waiter sleeps on when permits are given back", of(func(r *run) {
			shortOfPermits(r).back(5100, 1, 2, 1).permitsLate(7000)
		}), verdict.Violated},
		{"a waiter is woken when permits are given back", of(func(r *run) {
			shortOfPermits(r).back(5100, 1, 2, 1).permitsLate(6000)
		}), verdict.Unknown},
		{"permits are given back late", of(func(r *run) {
			shortOfPermits(r).awake(6500).back(6500, 1, 2, 1).permitsLate(7000)
		}), verdict.Unknown},
		{"a waiter sleeps on when the size is raised", of(func(r *run) {
			shortOfPermits(r).resize(5100, 5110, 3, 5, ok).permitsLate(7000)
		}), verdict.Violated},
		{"the size is raised, but not by enough", of(func(r *run) {
			shortOfPermits(r).asks(5012, 4, 1).stands(5013, 4, 21).resize(5100, 5110, 3, 1, ok).resize(5120, 5130, 3, 3, ok).permitsLate(7000)
		}), verdict.Unknown},
		{"the size was to be raised, which failed", of(func(r *run) {
			shortOfPermits(r).resize(5100, 5110, 3, 5, fail).permitsLate(7000)
		}), verdict.Unknown},
		{"the size may have been raised: its change has no answer", of(func(r *run) {
			shortOfPermits(r).resize(5100, 5110, 5, 5, info).permitsLate(7000)
		}), verdict.Unknown},
		{"the size is raised by one whose earlier change may still come", of(func(r *run) {
			shortOfPermits(r).op(5090, histories.Invoke, 4, histories.SetSize, histories.Event{Size: 1}).resize(5100, 5110, 3, 5, ok).permitsLate(7000)
		}), verdict.Unknown},
		{"the size is raised, and lowered before the waiter can have come", of(func(r *run) {
			shortOfPermits(r).resize(5100, 5110, 3, 5, ok).awake(5900).resize(5900, 5910, 3, 3, ok).permitsLate(7000)
		}), verdict.Unknown},
		{"the size was lowered before, and raised again", of(func(r *run) {
			shortOfPermits(r).resize(5100, 5110, 3, 1, ok).resize(5200, 5210, 3, 4, ok).permitsLate(7000)
		}), verdict.Violated},
		{"room comes from two who give back", of(func(r *run) {
			r.promising().permitsAt(4990, 3, 1, 3)
			r.permitsAt(5000, 1, 2, 1).asks(5010, 2, 2).stands(5011, 2, 20).back(5100, 3, 1, 3).awake(6500).back(6500, 1, 2, 1).permitsLate(7000)
		}), verdict.Unknown},
		{"one that holds permits and is not in the way crashes", of(func(r *run) {
			r.promising().permitsAt(4990, 4, 1, 3)
			r.permitsAt(5000, 1, 2, 1).resize(5003, 5004, 5, 4, ok).asks(5010, 2, 2).stands(5011, 2, 20).crash(5090, 4).back(5100, 1, 2, 1).permitsLate(7000)
		}), verdict.Violated},
		{"one who holds the permits that are missing crashes", of(func(r *run) {
			r.promising().permitsAt(4990, 4, 1, 3)
			r.permitsAt(5000, 1, 1, 1).asks(5010, 2, 3).stands(5011, 2, 20).crash(5090, 4).back(5100, 1, 1, 1)
			r.awake(7000).gets(7000, 2, 3, 20).back(7001, 2, 3, 20).end(15000)
		}), verdict.Unknown},
		{"a waiter sleeps on behind one that waits for more", of(func(r *run) {
			r.promising().permitsAt(5000, 1, 1, 1).asks(5003, 3, 3).stands(5004, 3, 19).asks(5010, 2, 2).stands(5011, 2, 20)
			r.awake(7000).op(7000, fail, 3, histories.Acquire, histories.Event{Permits: 3}).permitsLate(7100)
		}), verdict.Unknown},
		{"a waiter sleeps on while one that came later waits for more permits", of(func(r *run) {
			r.promising().permitsAt(5000, 1, 2, 1).back(5005, 1, 2, 1).asks(5010, 2, 2).stands(5011, 2, 20).asks(5012, 4, 3).stands(5013, 4, 21)
			r.permitsLate(7000)
		}), verdict.Violated},
	})
}
