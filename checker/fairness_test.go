package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestFairness(t *testing.T) {
	// Two contenders in the queue, 1 ahead of 2.
	two := func(r *run) *run { return r.want(0, 1).place(1, 1, 1).want(2, 2).place(3, 2, 2) }
	answers(t, Fairness, []known{
		{"no place is known", func(r *run) { r.cycle(0, 1, 1, 1) }, verdict.NotExercised},
		{"granted in the order of places", func(r *run) {
			two(r).got(4, 1, 1).release(5, 1).released(6, 1).got(7, 2, 2).release(8, 2).released(9, 2)
		}, verdict.Holds},
		{"the second is granted first", func(r *run) {
			two(r).got(4, 2, 2).release(5, 2).released(6, 2).got(7, 1, 1)
		}, verdict.Violated},
		{"the second returns in the instant in which the first does", func(r *run) {
			two(r).got(4, 2, 2).release(4, 2).got(4, 1, 1)
		}, verdict.Holds},
		{"the second knew its place first, which is no overtaking", func(r *run) {
			r.want(0, 1).want(0, 2).place(1, 2, 2).place(2, 1, 1).got(3, 1, 1).release(4, 1).released(5, 1).got(6, 2, 2)
		}, verdict.Holds},
		{"the first gave up, perhaps before the second was granted", func(r *run) {
			two(r).got(4, 2, 2).release(5, 2).released(6, 2).answer(7, histories.Fail, 1, histories.Acquire)
		}, verdict.NotExercised},
		{"the second was granted before the first knew its place and gave up", func(r *run) {
			r.want(0, 1).want(0, 2).place(1, 2, 2).got(2, 2, 2).place(3, 1, 1).answer(7, histories.Fail, 1, histories.Acquire)
		}, verdict.Violated},
		{"the first was paused before it told its place", func(r *run) {
			r.want(0, 1).pause(1, 1).want(2000, 2).place(2001, 2, 2).got(2002, 2, 2).wake(5000, 1).place(5000, 1, 1).answer(5000, histories.Fail, 1, histories.Acquire).expired(5010, 1)
		}, verdict.NotExercised},
		{"the first told its place late, and gave up", func(r *run) {
			r.want(0, 1).want(100, 2).place(101, 2, 2).got(1600, 2, 2).place(1700, 1, 1).answer(1700, histories.Fail, 1, histories.Acquire)
		}, verdict.NotExercised},
		{"the first told its place late, and was granted the lock", func(r *run) {
			r.want(0, 1).want(100, 2).place(101, 2, 2).got(1600, 2, 2).place(1700, 1, 1).release(1701, 2).released(1702, 2).got(1703, 1, 1)
		}, verdict.Violated},
		{"the first was paused after it had told its place", func(r *run) {
			two(r).got(4, 2, 2).pause(5, 1).release(6, 2).released(7, 2).wake(5000, 1).got(5001, 1, 1)
		}, verdict.NotExercised},
		{"the second was granted before the first told its place and was paused", func(r *run) {
			r.want(0, 1).want(0, 2).place(1, 2, 2).got(2, 2, 2).place(3, 1, 1).pause(5, 1).wake(5000, 1).got(5001, 1, 1)
		}, verdict.Violated},
		{"the first was paused before all this", func(r *run) {
			r.pause(0, 1).wake(1, 1).want(2, 1).place(3, 1, 1).want(4, 2).place(5, 2, 2).got(6, 2, 2).release(7, 2).released(8, 2).got(9, 1, 1)
		}, verdict.Violated},
		{"the session of the first ended while it waited", func(r *run) {
			two(r).got(4, 2, 2).release(5, 2).released(6, 2).expired(6, 1).got(7, 1, 1)
		}, verdict.NotExercised},
		{"the session of the first was expired by force while it waited", func(r *run) {
			two(r).expire(3, 1).got(4, 2, 2).release(5, 2).released(6, 2).got(7, 1, 1).lost(8, 1)
		}, verdict.NotExercised},
		{"the first loses its place and takes another in the same session", func(r *run) {
			two(r).place(4, 1, 3).got(5, 2, 2).release(6, 2).released(7, 2).got(8, 1, 3)
		}, verdict.Violated},
		{"the first loses its place with its session", func(r *run) {
			two(r).expired(4, 1).add(4, histories.Event{Type: histories.Enqueued, Process: 1, Lock: "a", Token: tok(3), Session: "new"}).
				got(5, 2, 2).release(6, 2).released(7, 2).
				op(8, histories.OK, 1, histories.Acquire, histories.Event{Token: tok(3), Depth: 1, Session: "new"})
		}, verdict.Holds},
		{"the first loses its place in a session that is not known", func(r *run) {
			e := histories.Event{Type: histories.Enqueued, Process: 1, Lock: "a"}
			one, other := e, e
			one.Token, other.Token = tok(1), tok(3)
			r.want(0, 1).add(1, one).want(2, 2).place(3, 2, 2).add(4, other).got(5, 2, 2).release(6, 2).released(7, 2).got(8, 1, 3)
		}, verdict.Holds},
		{"a place told twice is one place", func(r *run) {
			two(r).place(4, 1, 1).got(5, 1, 1).release(6, 1).released(7, 1).got(8, 2, 2)
		}, verdict.Holds},
		{"places are not in the order of time", func(r *run) {
			r.want(0, 1).place(1, 1, 5).want(2, 2).place(3, 2, 4).got(4, 1, 5).answer(6, histories.Fail, 2, histories.Acquire)
		}, verdict.Violated},
		{"a place comes before that of one who was gone long before", func(r *run) {
			r.want(0, 1).place(1, 1, 5).answer(2, histories.Fail, 1, histories.Acquire)
			r.want(3, 2).place(4, 2, 6).got(5, 2, 6).release(6, 2).released(7, 2)
			r.want(8, 3).place(9, 3, 7).got(10, 3, 7).release(11, 3).released(12, 3)
			r.want(13, 1).place(14, 1, 4).got(15, 1, 4).release(16, 1).released(17, 1)
		}, verdict.Violated},
		{"both hold at the same time, in the order of places", func(r *run) {
			two(r).got(4, 1, 1).got(5, 2, 2).release(6, 1).released(6, 1)
		}, verdict.Holds},
		{"a target that promises none is not held to it", func(r *run) {
			r.h.Header.Promises.FIFO = false
			two(r).got(4, 2, 2).release(5, 2).released(6, 2).got(7, 1, 1)
		}, verdict.NotPromised},
	})
}
