package models

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/histories"
)

// drawn follows a random history of one lock or register, whose operations draw makes.
func drawn[S, I comparable](rnd *rand.Rand, begin S, step func(S, I) (S, bool), reads func(I) bool, draw func(process int) I) (t *tracker[S, I], text string) {
	l, _ := Caps{Engine: checker.Both, Time: time.Minute, Memory: 64 << 20}.begin(context.Background())
	t = newTracker(begin, step, reads, l)
	open := map[int]*pending[I]{}
	gone := 0
	for range 1 + rnd.IntN(20) {
		process := rnd.IntN(4)
		if op := open[process]; op != nil {
			delete(open, process)
			how := []outcome{succeeded, succeeded, succeeded, failed, unclear}[rnd.IntN(5)]
			in := draw(process)
			if how == unclear {
				gone++
			}
			t.answer(op, how, in)
			text += fmt.Sprintf("%d answers %v %+v\n", process, how, in)
			continue
		}
		open[process] = t.call(about{})
		text += fmt.Sprintf("%d calls\n", process)
	}
	for process, op := range open {
		t.answer(op, unclear, draw(process))
		text += fmt.Sprintf("%d never answers %+v\n", process, op.in)
	}
	return t, text
}

// agree checks that the sweep and Porcupine give a history the same answer.
func agree[S, I comparable](tb testing.TB, seed uint64, t *tracker[S, I], text string) (broken bool) {
	tb.Helper()
	caps := &judge.Caps{Ctx: context.Background(), Left: time.Minute, Memory: 64 << 20}
	a := judge.Search(caps, t.model(), t.ops)
	if a.Undecided() || t.sweep.unknown != "" || a.Illegal != t.sweep.broken {
		tb.Fatalf("seed %d: the sweep says %v %s, Porcupine %v %s of\n%s", seed, t.sweep.broken, t.sweep.unknown, a.Illegal, a.Why, text)
	}
	return a.Illegal
}

func TestTheSweepAndPorcupineAgree(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	broken := map[string]int{}
	const rounds = 3000
	for range rounds {
		values := []string{"1", "2", "3"}
		one := func() string { return values[rnd.IntN(3)] }
		known := map[string]*registerInput{}
		m := registers{func(string) (string, bool) { return "nil", false }}
		tr, text := drawn(rnd, registerState(""), m.step, (*registerInput).reads, func(int) *registerInput {
			in := &registerInput{steps: []step{{Access: histories.Access{Kind: histories.ReadAccess, Value: one(), Known: true}, start: rnd.IntN(4) == 0}}}
			switch rnd.IntN(4) {
			case 0:
				in.steps[0].Access = histories.Access{Kind: histories.WriteAccess, Value: one()}
			case 1:
				in.steps[0].Access = histories.Access{Kind: histories.CASAccess, Value: one(), New: one()}
			}
			if rnd.IntN(4) == 0 {
				in.steps = append(in.steps, step{Access: histories.Access{Kind: histories.WriteAccess, Register: "x", Value: one()}})
			}
			in.text = fmt.Sprintf("%+v", in.steps)
			if k := known[in.text]; k != nil {
				return k
			}
			known[in.text] = in
			return in
		})
		if agree(t, seed, tr, text) {
			broken["registers"]++
		}
		for _, model := range histories.Models() {
			if model.Register {
				continue
			}
			m := lockModel{model, 2}
			top := int64(0)
			tr, text := drawn(rnd, lockState{}, m.step, lockInput.reads, func(process int) lockInput {
				top += int64(rnd.IntN(3))
				owner := fmt.Sprint(process % 3)
				if rnd.IntN(10) == 0 {
					owner = histories.AnyOwner
				}
				return lockInput{release: rnd.IntN(2) == 0, owner: owner, fence: max(top-int64(rnd.IntN(2)), 0), permits: 1 + rnd.IntN(8)/7}
			})
			if agree(t, seed, tr, text) {
				broken[model.Name]++
			}
		}
	}
	for name, n := range broken {
		if n < rounds/20 || n > rounds*19/20 {
			t.Errorf("%s: %d of %d histories are violated", name, n, rounds)
		}
	}
}
