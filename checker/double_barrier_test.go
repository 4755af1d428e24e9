package checker

import (
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func (r *run) member(ms int, typ histories.Type, p int, op histories.Op, generation int) *run {
	return r.op(ms, typ, p, op, histories.Event{Generation: generation, Session: session(p)})
}

// gaveUp is an enter that failed; its node was gone by a transaction.
func (r *run) gaveUp(ms, p, generation, by int) *run {
	return r.op(ms, histories.Fail, p, histories.Enter, histories.Event{Generation: generation, Session: session(p), Token: tok(by)})
}

// began is an enter into a round that a transaction began.
func (r *run) began(ms, p, generation, by int) *run {
	return r.op(ms, histories.OK, p, histories.Enter, histories.Event{Generation: generation, Session: session(p), Token: tok(by)})
}

func TestADoubleBarrierIsEnteredAndLeftTogether(t *testing.T) {
	const enter, leave = histories.Enter, histories.Leave
	const ok, fail = histories.OK, histories.Fail
	comes := func(r *run, ms, p, g int) *run { return r.member(ms, histories.Invoke, p, enter, g) }
	enters := func(r *run, ms, p, g int) *run { return r.member(ms, ok, p, enter, g) }
	goes := func(r *run, ms, p, g int) *run { return r.member(ms, histories.Invoke, p, leave, g) }
	leaves := func(r *run, ms, p, g int) *run { return r.member(ms, ok, p, leave, g) }
	// in makes processes 1 and 2 enter round g, within four milliseconds.
	in := func(r *run, ms, g int) *run {
		return enters(enters(comes(comes(r, ms, 1, g), ms+1, 2, g), ms+2, 1, g), ms+3, 2, g)
	}
	out := func(r *run, ms, g int) *run {
		return leaves(leaves(goes(goes(r, ms, 1, g), ms+1, 2, g), ms+2, 1, g), ms+3, 2, g)
	}
	tell(t, Barriers, map[string]histories.Lock{"a": {Recipe: histories.DoubleBarrier, Size: 2}}, []told{
		{"no process enters", func(r *run) { comes(r, 1, 1, 1).member(2, fail, 1, enter, 1) }, verdict.NotExercised, "", 0},
		{"two rounds", func(r *run) { out(in(out(in(r, 1, 1), 5, 1), 9, 2), 13, 2) }, verdict.Holds, "", 0},
		{"one enters alone", func(r *run) { enters(comes(r, 1, 1, 1), 2, 1, 1) }, verdict.Violated,
			`process 1 entered round 1 of barrier "a" at 0.002000 s, when 1 of its 2 members had come`, 0},
		{"one enters before the other has come", func(r *run) { enters(comes(enters(comes(r, 1, 1, 1), 2, 1, 1), 3, 2, 1), 4, 2, 1) }, verdict.Violated,
			`process 1 entered round 1 of barrier "a" at 0.002000 s, when 1 of its 2 members had come`, 0},
		{"one enters with one who gives up", func(r *run) {
			enters(comes(comes(r, 1, 2, 1).member(3, fail, 2, enter, 1), 4, 1, 1), 5, 1, 1)
		}, verdict.Holds, "", 0},
		{"one enters with one who has given up and whose session has ended", func(r *run) {
			enters(comes(comes(r, 1, 2, 1).member(3, fail, 2, enter, 1).expired(4, 2), 5, 1, 1), 6, 1, 1)
		}, verdict.Violated, `process 1 entered round 1 of barrier "a" at 0.006000 s, when 1 of its 2 members had come`, 0},
		{"one enters with a member of an earlier round", func(r *run) {
			enters(comes(comes(r, 1, 2, 1).member(3, fail, 2, enter, 1), 4, 1, 2), 5, 1, 2)
		}, verdict.Violated, `process 1 entered round 2 of barrier "a" at 0.005000 s, when 1 of its 2 members had come`, 0},
		{"who comes twice is one", func(r *run) {
			enters(comes(comes(r, 1, 1, 1).member(2, fail, 1, enter, 1), 3, 1, 1), 4, 1, 1)
		}, verdict.Violated, `process 1 entered round 1 of barrier "a" at 0.004000 s, when 1 of its 2 members had come`, 0},
		{"one enters by a transaction before another had given up", func(r *run) {
			comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 8).began(9, 1, 1, 7)
		}, verdict.Holds, "", 0},
		{"one enters by a transaction after another had given up", func(r *run) {
			comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 7).began(9, 1, 1, 8)
		}, verdict.Violated, `process 1 entered round 1 of barrier "a" at 0.009000 s, which transaction 0x8 began, with 1 of its 2 members: process 2 had given up by transaction 0x7`, 0},
		{"one enters by a transaction after one of three had given up", func(r *run) {
			comes(comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 7), 4, 3, 1).began(9, 1, 1, 8).began(9, 3, 1, 8)
		}, verdict.Holds, "", 0},
		{"one enters by an unknown transaction after another had given up", func(r *run) {
			comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 7).began(9, 1, 1, 0)
		}, verdict.Holds, "", 0},
		{"one leaves while the other is inside", func(r *run) {
			leaves(goes(goes(leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1), 7, 2, 1), 8, 1, 1), 9, 2, 1)
		}, verdict.Violated,
			`process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves and the other never does", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1) }, verdict.Violated,
			`process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside and did not leave`, 0},
		{"one leaves while the other is on its way in", func(r *run) {
			goes(enters(leaves(goes(enters(comes(comes(r, 1, 1, 1), 2, 2, 1), 3, 1, 1), 4, 1, 1), 5, 1, 1), 6, 2, 1), 7, 2, 1)
		}, verdict.Violated, `process 1 left round 1 of barrier "a" at 0.005000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves while the other's leave times out", func(r *run) {
			leaves(goes(goes(in(r, 1, 1), 5, 2, 1), 6, 1, 1), 7, 1, 1).member(8, fail, 2, leave, 1)
		}, verdict.Holds, "", 0},
		{"one leaves after the crash of the other", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1).crash(6, 2), 7, 1, 1) }, verdict.Holds, "", 0},
		{"one leaves before the crash of the other", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1).crash(7, 2) }, verdict.Violated,
			`process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves when the other's session has ended", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1).expired(7, 2) }, verdict.Holds, "", 0},
		{"one leaves when the other's session may have ended, and its leave fails later", func(r *run) {
			goes(leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1), 7, 2, 1).member(8, fail, 2, leave, 1).expired(9, 2)
		}, verdict.Holds, "", 0},
		{"one leaves when the other has given up its leave and come back", func(r *run) {
			goes(in(r, 1, 1), 5, 2, 1).member(6, fail, 2, leave, 1)
			leaves(goes(enters(comes(r, 7, 2, 1), 8, 2, 1), 9, 1, 1), 10, 1, 1)
		}, verdict.Violated, `process 1 left round 1 of barrier "a" at 0.010000 s, while process 2 was inside and did not leave`, 0},
		{"one leaves and the other's session ends much later", func(r *run) {
			in(r, 1, 1)
			goes(leaves(goes(r, 5, 1, 1), 6, 1, 1), 7, 2, 1).member(8, fail, 2, leave, 1)
			comes(r, 9, 1, 2)
			r.member(10, histories.Invoke, 2, enter, 2)
			leaves(goes(goes(enters(enters(r, 11, 2, 2), 12, 1, 2), 13, 1, 2), 14, 2, 2), 15, 1, 2).expired(20, 2)
		}, verdict.Violated, `process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves, and the other's leave fails in a session whose end is not known", func(r *run) {
			goes(leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1), 7, 2, 1).member(8, fail, 2, leave, 1)
		}, verdict.Holds, "", 0},
		{"one leaves, and the other's leave fails in a session that is used later", func(r *run) {
			goes(leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1), 7, 2, 1).member(8, fail, 2, leave, 1)
			comes(comes(r, 9, 1, 2), 10, 2, 2)
			out(enters(enters(r, 11, 1, 2), 12, 2, 2), 13, 2)
		}, verdict.Violated, `process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves, and the record ends while the other is paused in a session whose end is not known", func(r *run) {
			leaves(goes(in(r, 1, 1).pause(5, 2), 6, 1, 1), 7, 1, 1)
		}, verdict.Holds, "", 0},
		{"one leaves, and the other crashes after a pause in a session whose end is not known", func(r *run) {
			leaves(goes(in(r, 1, 1).pause(5, 2), 6, 1, 1), 7, 1, 1).wake(8, 2).crash(9, 2)
		}, verdict.Holds, "", 0},
		{"one leaves, and the record ends while a third is paused", func(r *run) {
			leaves(goes(in(r, 1, 1).pause(5, 3), 6, 1, 1), 7, 1, 1)
		}, verdict.Violated, `process 1 left round 1 of barrier "a" at 0.007000 s, while process 2 was inside and did not leave`, 0},
		{"one leaves while the other is paused, and leaves later", func(r *run) {
			goes(leaves(goes(in(r, 1, 1).pause(5, 2), 6, 1, 1), 7, 1, 1).wake(8, 2), 9, 2, 1).member(10, ok, 2, leave, 1)
		}, verdict.Violated, `process 1 left round 1 of barrier "a" at 0.007000 s, while process 2 was inside, until 0.009000 s`, 0},
		{"one leaves when the other's session was expired by force", func(r *run) { leaves(goes(in(r, 1, 1).expire(5, 2), 6, 1, 1), 7, 1, 1) }, verdict.Holds, "", 0},
		{"a round is entered that was asked for after the next, and answered after the one after that", func(r *run) {
			out(in(out(in(r, 1, 1), 5, 1), 9, 2), 13, 2) // until 16
			comes(r, 17, 3, 1)
			enters(out(in(r, 20, 3), 24, 3), 30, 3, 1)
		}, verdict.Violated, `process 3 came to round 1 of barrier "a" at 0.017000 s and entered, although round 2 had been entered before`, 0},
		{"a round is entered when it is over", func(r *run) { goes(enters(comes(out(in(r, 1, 1), 5, 1), 9, 3, 1), 10, 3, 1), 11, 3, 1) }, verdict.Violated,
			`process 3 came to round 1 of barrier "a" at 0.009000 s and entered, although the round was over: process 1 had left it at 0.007000 s`, 2},
		{"a round is entered while the one before is on", func(r *run) {
			r.h.Header.Locks["a"] = histories.Lock{Recipe: histories.DoubleBarrier, Size: 1}
			goes(enters(comes(enters(comes(r, 1, 1, 1), 2, 1, 1), 3, 2, 2), 4, 2, 2), 5, 1, 1)
		}, verdict.Violated, `process 2 entered round 2 of barrier "a" at 0.004000 s, while process 1 was inside round 1, until 0.005000 s`, 0},
		{"a round is entered while the one before may be over", func(r *run) {
			r.h.Header.Locks["a"] = histories.Lock{Recipe: histories.DoubleBarrier, Size: 1}
			enters(goes(comes(enters(comes(r, 1, 1, 1), 2, 1, 1), 3, 2, 2), 4, 1, 1), 5, 2, 2)
		}, verdict.Holds, "", 0},
		{"a round is entered before the one before it can have begun", func(r *run) {
			comes(comes(r, 1, 3, 2), 1, 4, 2)
			enters(comes(enters(enters(comes(r, 2, 1, 1), 3, 3, 2), 3, 4, 2), 5, 2, 1), 6, 1, 1).member(6, fail, 2, enter, 1).expired(9, 1)
		}, verdict.Violated, `process 3 entered round 2 of barrier "a" at 0.003000 s, before round 1 had begun`, 2},
	})
}

// Without the servers' log of a run in virtual time nothing shows of which round a member is that names
// none: it does not hold then, and is not said to be unused.
func TestAMemberThatNamesNoRoundIsNotJudged(t *testing.T) {
	r := newRun(t)
	r.h.Header.Locks = map[string]histories.Lock{"a": {Recipe: histories.DoubleBarrier, Size: 2}}
	r.member(1, histories.Invoke, 1, histories.Enter, 0).member(2, histories.OK, 1, histories.Enter, 0)
	v := r.report().Verdict(Barriers)
	if v.Outcome != verdict.NotExercised || !strings.Contains(v.Reason, "1 enter of a double barrier named no round") {
		t.Error(v)
	}
}
