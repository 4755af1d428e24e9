package checker

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// barriersJudge: nobody passes a barrier that is up, and the members of a double
// barrier come in together and go out together. The two recipes have one
// verdict, and each that is driven must have been put to the test.
type barriersJudge struct {
	v       *Verdict
	singles map[string]*singleBarrier
	doubles map[string]*doubleBarrier
}

// singleBarrier is what the judge knows of one barrier.
type singleBarrier struct {
	violations int
	sweep      barrierSweep
	search     barrierSearch
}

func newBarriersJudge(_ *trace, v *Verdict) *barriersJudge {
	v.Promised, v.Expected = true, true
	return &barriersJudge{
		v:       v,
		singles: map[string]*singleBarrier{}, doubles: map[string]*doubleBarrier{},
	}
}

func (j *barriersJudge) window(e *engines, t *trace) {
	settled := map[string][]*op{}
	for _, o := range t.ops {
		if !o.recipe().IsLock() && t.settled(o) {
			settled[o.lock] = append(settled[o.lock], o)
		}
	}
	any := t.oldest(func(*op) bool { return true })
	remove := t.oldest(func(o *op) bool { return o.kind == histories.Remove })
	wait := t.oldest(func(o *op) bool { return o.kind == histories.Wait })
	set := t.oldest(func(o *op) bool { return o.kind == histories.Set })
	for _, lock := range t.locksThat(is(histories.Barrier)) {
		of := j.singles[lock]
		if of == nil {
			of = &singleBarrier{sweep: newBarrierSweep()}
			j.singles[lock] = of
		}
		of.sweep.take(settled[lock])
		of.sweep.judge(remove(lock), func(d demand, removes int) {
			if e.sweeps {
				of.violations++
				j.v.violate(func() Witness { return t.passedEarly(d, removes) })
			}
		})
		if !t.last {
			of.sweep.advance(min(remove(lock)-1, t.end))
		}
		of.sweep.forget(min(wait(lock), t.end+1), min(set(lock), t.end+1))
		if e.searches {
			of.search.window(&e.caps, t, settled[lock], any(lock))
		}
	}
	for _, lock := range t.locksThat(is(histories.DoubleBarrier)) {
		of := j.doubles[lock]
		if of == nil {
			of = &doubleBarrier{size: t.header.Locks[lock].Size}
			j.doubles[lock] = of
		}
		of.take(j.v, t, settled[lock])
		of.judge(j.v, t, lock)
	}
}

func (j *barriersJudge) conclude(e *engines, t *trace) {
	v := j.v
	var shown, idle []string
	for _, r := range t.recipes() {
		switch r {
		case histories.Barrier:
			passed, held := 0, 0
			for _, lock := range t.locksThat(is(r)) {
				of := j.singles[lock]
				e.compare(t, v, lock, of.violations > 0, of.search.answer)
				passed, held = passed+of.sweep.passed, held+of.sweep.held
			}
			shown = append(shown, words.Count(passed, "wait")+" at a barrier")
			v.count("waits that passed", passed)
			v.count("waits begun while the barrier was up", held)
			if held == 0 {
				idle = append(idle, "nobody waited at a barrier that was up")
			}
		case histories.DoubleBarrier:
			entered, left := 0, 0
			for _, of := range j.doubles {
				entered, left = entered+of.entered, left+of.left
			}
			shown = append(shown, words.Count(entered, "member")+" of a double barrier")
			v.count("members that entered", entered)
			v.count("members that left", left)
			if entered == 0 {
				idle = append(idle, "nobody entered a double barrier")
			}
		}
	}
	switch {
	case v.Outcome == Unknown: // the engines disagree
	case len(idle) > 0 && v.Violations == 0:
		v.idle(strings.Join(idle, ", "))
	default:
		v.conclude("nobody was early: "+strings.Join(shown, ", "), fmt.Sprintf("somebody passed too early, %s", words.Times(v.Violations)))
	}
}
