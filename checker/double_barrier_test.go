package checker

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func (r *run) member(ms int, typ histories.Type, p int, op histories.Op, generation int) *run {
	return r.op(ms, typ, p, op, histories.Event{Generation: generation, Session: session(p)})
}

// gaveUp is an enter of which nothing was left by a transaction.
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
	// in has processes 1 and 2 enter round g, within four milliseconds.
	in := func(r *run, ms, g int) *run {
		return enters(enters(comes(comes(r, ms, 1, g), ms+1, 2, g), ms+2, 1, g), ms+3, 2, g)
	}
	out := func(r *run, ms, g int) *run {
		return leaves(leaves(goes(goes(r, ms, 1, g), ms+1, 2, g), ms+2, 1, g), ms+3, 2, g)
	}
	tell(t, Barriers, map[string]histories.Lock{"a": {Recipe: histories.DoubleBarrier, Size: 2}}, []told{
		{"nobody enters", func(r *run) { comes(r, 1, 1, 1).member(2, fail, 1, enter, 1) }, NotExercised, "", 0},
		{"two rounds", func(r *run) { out(in(out(in(r, 1, 1), 5, 1), 9, 2), 13, 2) }, Holds, "", 0},
		{"one enters alone", func(r *run) { enters(comes(r, 1, 1, 1), 2, 1, 1) }, Violated,
			`process 1 entered round 1 of barrier "a" at 0.002000 s, when 1 of its 2 members had come`, 0},
		{"one enters before the other has come", func(r *run) { enters(comes(enters(comes(r, 1, 1, 1), 2, 1, 1), 3, 2, 1), 4, 2, 1) }, Violated,
			`process 1 entered round 1 of barrier "a" at 0.002000 s, when 1 of its 2 members had come`, 0},
		{"one enters with one who gives up", func(r *run) {
			enters(comes(comes(r, 1, 2, 1).member(3, fail, 2, enter, 1), 4, 1, 1), 5, 1, 1)
		}, Holds, "", 0},
		{"one enters with one who has given up and whose session has ended", func(r *run) {
			enters(comes(comes(r, 1, 2, 1).member(3, fail, 2, enter, 1).expired(4, 2), 5, 1, 1), 6, 1, 1)
		}, Violated, `process 1 entered round 1 of barrier "a" at 0.006000 s, when 1 of its 2 members had come`, 0},
		{"one enters with a member of an earlier round", func(r *run) {
			enters(comes(comes(r, 1, 2, 1).member(3, fail, 2, enter, 1), 4, 1, 2), 5, 1, 2)
		}, Violated, `process 1 entered round 2 of barrier "a" at 0.005000 s, when 1 of its 2 members had come`, 0},
		{"who comes twice is one", func(r *run) {
			enters(comes(comes(r, 1, 1, 1).member(2, fail, 1, enter, 1), 3, 1, 1), 4, 1, 1)
		}, Violated, `process 1 entered round 1 of barrier "a" at 0.004000 s, when 1 of its 2 members had come`, 0},
		{"one enters by a transaction before another had given up", func(r *run) {
			comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 8).began(9, 1, 1, 7)
		}, Holds, "", 0},
		{"one enters by a transaction after another had given up", func(r *run) {
			comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 7).began(9, 1, 1, 8)
		}, Violated, `process 1 entered round 1 of barrier "a" at 0.009000 s, which transaction 0x8 began, with 1 of its 2 members: process 2 had given up by transaction 0x7`, 0},
		{"one enters by a transaction after one of three had given up", func(r *run) {
			comes(comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 7), 4, 3, 1).began(9, 1, 1, 8).began(9, 3, 1, 8)
		}, Holds, "", 0},
		{"one enters by a transaction that nobody knows after another had given up", func(r *run) {
			comes(comes(r, 1, 2, 1), 2, 1, 1).gaveUp(3, 2, 1, 7).began(9, 1, 1, 0)
		}, Holds, "", 0},
		{"one leaves while the other is inside", func(r *run) {
			leaves(goes(goes(leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1), 7, 2, 1), 8, 1, 1), 9, 2, 1)
		}, Violated,
			`process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves and the other never does", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1) }, Violated,
			`process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside and did not leave`, 0},
		{"one leaves while the other is on its way in", func(r *run) {
			goes(enters(leaves(goes(enters(comes(comes(r, 1, 1, 1), 2, 2, 1), 3, 1, 1), 4, 1, 1), 5, 1, 1), 6, 2, 1), 7, 2, 1)
		}, Violated, `process 1 left round 1 of barrier "a" at 0.005000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves while the other's leave times out", func(r *run) {
			leaves(goes(goes(in(r, 1, 1), 5, 2, 1), 6, 1, 1), 7, 1, 1).member(8, fail, 2, leave, 1)
		}, Holds, "", 0},
		{"one leaves after the crash of the other", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1).crash(6, 2), 7, 1, 1) }, Holds, "", 0},
		{"one leaves before the crash of the other", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1).crash(7, 2) }, Violated,
			`process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves when the other's session has ended", func(r *run) { leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1).expired(7, 2) }, Holds, "", 0},
		{"one leaves when the other's session may have ended, and its leave fails later", func(r *run) {
			goes(leaves(goes(in(r, 1, 1), 5, 1, 1), 6, 1, 1), 7, 2, 1).member(8, fail, 2, leave, 1).expired(9, 2)
		}, Holds, "", 0},
		{"one leaves when the other has given up its leave and come back", func(r *run) {
			goes(in(r, 1, 1), 5, 2, 1).member(6, fail, 2, leave, 1)
			leaves(goes(enters(comes(r, 7, 2, 1), 8, 2, 1), 9, 1, 1), 10, 1, 1)
		}, Violated, `process 1 left round 1 of barrier "a" at 0.010000 s, while process 2 was inside and did not leave`, 0},
		{"one leaves and the other's session ends much later", func(r *run) {
			in(r, 1, 1)
			goes(leaves(goes(r, 5, 1, 1), 6, 1, 1), 7, 2, 1).member(8, fail, 2, leave, 1)
			comes(r, 9, 1, 2)
			r.member(10, histories.Invoke, 2, enter, 2)
			leaves(goes(goes(enters(enters(r, 11, 2, 2), 12, 1, 2), 13, 1, 2), 14, 2, 2), 15, 1, 2).expired(20, 2)
		}, Violated, `process 1 left round 1 of barrier "a" at 0.006000 s, while process 2 was inside, until 0.007000 s`, 0},
		{"one leaves when the other's session was ended from the side", func(r *run) { leaves(goes(in(r, 1, 1).expire(5, 2), 6, 1, 1), 7, 1, 1) }, Holds, "", 0},
		{"a round is entered that was asked for after the next, and answered after the one after that", func(r *run) {
			out(in(out(in(r, 1, 1), 5, 1), 9, 2), 13, 2) // until 16
			comes(r, 17, 3, 1)
			enters(out(in(r, 20, 3), 24, 3), 30, 3, 1)
		}, Violated, `process 3 came to round 1 of barrier "a" at 0.017000 s and entered, although round 2 had been entered before`, 0},
		{"a round is entered when it is over", func(r *run) { goes(enters(comes(out(in(r, 1, 1), 5, 1), 9, 3, 1), 10, 3, 1), 11, 3, 1) }, Violated,
			`process 3 came to round 1 of barrier "a" at 0.009000 s and entered, although the round was over: process 1 had left it at 0.007000 s`, 2},
		{"a round is entered while the one before is on", func(r *run) {
			r.h.Header.Locks["a"] = histories.Lock{Recipe: histories.DoubleBarrier, Size: 1}
			goes(enters(comes(enters(comes(r, 1, 1, 1), 2, 1, 1), 3, 2, 2), 4, 2, 2), 5, 1, 1)
		}, Violated, `process 2 entered round 2 of barrier "a" at 0.004000 s, while process 1 was inside round 1, until 0.005000 s`, 0},
		{"a round is entered while the one before may be over", func(r *run) {
			r.h.Header.Locks["a"] = histories.Lock{Recipe: histories.DoubleBarrier, Size: 1}
			enters(goes(comes(enters(comes(r, 1, 1, 1), 2, 1, 1), 3, 2, 2), 4, 1, 1), 5, 2, 2)
		}, Holds, "", 0},
		{"a round is entered before the one before it can have begun", func(r *run) {
			comes(comes(r, 1, 3, 2), 1, 4, 2)
			enters(comes(enters(enters(comes(r, 2, 1, 1), 3, 3, 2), 3, 4, 2), 5, 2, 1), 6, 1, 1).member(6, fail, 2, enter, 1).expired(9, 1)
		}, Violated, `process 3 entered round 2 of barrier "a" at 0.003000 s, before round 1 had begun`, 2},
	})
}

// roundsOf returns the rounds of lock a.
func roundsOf(t *trace) []*round {
	d := &doubleBarrier{size: 2}
	d.take(&Verdict{}, t, t.ops)
	return d.rounds
}

// legal tries every instant for the beginning and the end of two rounds.
func legal(t *trace, size int) bool {
	rounds := roundsOf(t)
	const last = 40
	fits := func(r *round, from, begun, over int) bool {
		at, end := time.Duration(begun)*time.Millisecond, time.Duration(over)*time.Millisecond
		passed := false
		for _, e := range r.enters {
			if e.ok() {
				passed = true
				if e.ret < at || t.insideUntil(r, e) > end {
					return false
				}
			}
		}
		for _, l := range r.leaves {
			if l.ok() && l.ret < end {
				return false
			}
		}
		return !passed || begun >= from && t.there(r, at) >= size
	}
	var try func(i, from int) bool
	try = func(i, from int) bool {
		if i == len(rounds) {
			return true
		}
		for begun := from; begun <= last; begun++ {
			for over := begun; over <= last; over++ {
				if fits(rounds[i], from, begun, over) && try(i+1, over) {
					return true
				}
			}
		}
		return false
	}
	return try(0, 0)
}

func TestTheEarliestInstantsDecideRounds(t *testing.T) {
	n := 3_000
	if testing.Short() || raceEnabled {
		n = 300
	}
	const seed = 4
	rnd := rand.New(rand.NewPCG(seed, seed))
	bad := 0
	for i := range n {
		r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.DoubleBarrier, Size: 2}})
		// Each of three processes goes through its steps, in a random order.
		type step struct {
			typ        histories.Type
			op         histories.Op
			generation int
		}
		steps := make([][]step, 3)
		for p := range steps {
			for g := 1; g <= 2; g++ {
				if p == 2 && rnd.IntN(3) > 0 {
					continue
				}
				result := histories.OK
				if rnd.IntN(5) == 0 {
					result = histories.Fail
				}
				steps[p] = append(steps[p], step{histories.Invoke, histories.Enter, g}, step{result, histories.Enter, g})
				if result == histories.OK {
					steps[p] = append(steps[p], step{histories.Invoke, histories.Leave, g}, step{histories.OK, histories.Leave, g})
				}
			}
		}
		for ms := 1; ms < 30; {
			p := rnd.IntN(3)
			if len(steps[p]) > 0 {
				s := steps[p][0]
				// Mostly in good order, else next to nothing would be legal.
				hurried := rnd.IntN(4) == 0
				if s.typ == histories.Invoke || hurried || s.op == histories.Enter && ms%3 == 0 || ms%4 == 0 {
					r.member(ms, s.typ, p, s.op, s.generation)
					steps[p] = steps[p][1:]
				}
			}
			if rnd.IntN(3) > 0 {
				ms++
			}
		}
		if rnd.IntN(6) == 0 {
			r.expired(30, rnd.IntN(3))
		}
		tr := newTrace(r.h)
		v := &Verdict{}
		d := &doubleBarrier{size: 2}
		d.take(v, tr, tr.ops)
		d.judge(v, tr, "a")
		// Whoever never leaves is inside beyond the last instant that is tried:
		// leave it then.
		tried := newTrace(r.h)
		for _, x := range roundsOf(tried) {
			for _, e := range x.enters {
				if e.ok() && tried.insideUntil(x, e) == forever {
					e.by.retired = 35 * time.Millisecond
				}
			}
		}
		want := legal(tried, 2)
		if !want {
			bad++
		}
		if got := v.Violations == 0; got != want {
			t.Fatalf("history %d of seed %d: the check says %v, trying everything says %v\n%v\n%+v", i, seed, got, want, v.Witnesses, r.h.Events)
		}
	}
	t.Logf("%d of %d are illegal", bad, n)
	if bad < n/10 || bad > n*9/10 {
		t.Errorf("the histories are lopsided: %d of %d illegal", bad, n)
	}
}
