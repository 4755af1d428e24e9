package barrier

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// roundsOf returns the rounds of lock a.
func roundsOf(t *facts.Trace) []*round {
	d := &doubleBarrier{size: 2}
	d.take(&verdict.Verdict{}, t, t.Ops)
	return d.rounds
}

// legal tries every instant for the beginning and the end of two rounds.
func legal(t *facts.Trace, size int) bool {
	rounds := roundsOf(t)
	const last = 40
	fits := func(r *round, from, begun, over int) bool {
		at, end := time.Duration(begun)*time.Millisecond, time.Duration(over)*time.Millisecond
		passed := false
		for _, e := range r.enters {
			if e.OK() {
				passed = true
				if e.Ret < at || insideUntil(t, r.leavesOf()[e.Process], e) > end {
					return false
				}
			}
		}
		for _, l := range r.leaves {
			if l.OK() && l.Ret < end {
				return false
			}
		}
		return !passed || begun >= from && newCrowd(t, r).at(at) >= size
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
	if testing.Short() || drawn.Race {
		n = 300
	}
	const seed = 4
	rnd := rand.New(rand.NewPCG(seed, seed))
	bad := 0
	for i := range n {
		h := &histories.History{Header: histories.Header{Version: 1, Locks: map[string]histories.Lock{"a": {Recipe: histories.DoubleBarrier, Size: 2}}}}
		add := func(ms int, e histories.Event) {
			e.Time = time.Duration(ms) * time.Millisecond
			h.Events = append(h.Events, e)
		}
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
				// Mostly in a legal order, or else almost no history would be legal.
				hurried := rnd.IntN(4) == 0
				if s.typ == histories.Invoke || hurried || s.op == histories.Enter && ms%3 == 0 || ms%4 == 0 {
					add(ms, histories.Event{Type: s.typ, Process: p, Lock: "a", Op: s.op, Generation: s.generation, Session: "s" + strconv.Itoa(p)})
					steps[p] = steps[p][1:]
				}
			}
			if rnd.IntN(3) > 0 {
				ms++
			}
		}
		if rnd.IntN(6) == 0 {
			add(30, histories.Event{Type: histories.Expired, Process: -1, Session: "s" + strconv.Itoa(rnd.IntN(3))})
		}
		tr := facts.Of(h)
		v := &verdict.Verdict{}
		d := &doubleBarrier{size: 2}
		d.take(v, tr, tr.Ops)
		d.judge(v, tr, "a")
		// A member that never leaves is inside beyond the last instant that is tried: make
		// it leave then.
		tried := facts.Of(h)
		for _, x := range roundsOf(tried) {
			for _, e := range x.enters {
				if e.OK() && insideUntil(tried, x.leavesOf()[e.Process], e) == facts.Forever {
					e.By.Retired = 35 * time.Millisecond
				}
			}
		}
		want := legal(tried, 2)
		if !want {
			bad++
		}
		if got := v.Violations == 0; got != want {
			t.Fatalf("history %d of seed %d: the check says %v, trying everything says %v\n%v\n%+v", i, seed, got, want, v.Witnesses, h.Events)
		}
	}
	t.Logf("%d of %d are illegal", bad, n)
	if bad < n/10 || bad > n*9/10 {
		t.Errorf("the histories are lopsided: %d of %d illegal", bad, n)
	}
}
