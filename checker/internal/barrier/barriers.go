package barrier

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// barriersJudge judges that no process passes a barrier that is up, and that the members of a
// double barrier enter together and leave together. The two recipes have one verdict, and each
// that is driven must have been put to the test.
type barriersJudge struct {
	v       *verdict.Verdict
	singles facts.PerLock[singleBarrier]
	doubles facts.PerLock[doubleBarrier]
	late    lateCalls
	members members
}

// singleBarrier is the judge's record of one barrier.
type singleBarrier struct {
	violations int
	sweep      barrierSweep
	search     barrierSearch
}

// NewBarriers returns the judge of single and double barriers.
func NewBarriers(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised, v.Expected = true, true
	return &barriersJudge{v: v}
}

func (j *barriersJudge) Window(e *judge.Engines, t *facts.Trace) (kept int) {
	settled := map[*facts.LockInfo][]*facts.Op{}
	for _, o := range facts.Each(t, t.Ops) {
		if !o.Recipe().IsLock() && t.Settled(o) {
			settled[o.Info()] = append(settled[o.Info()], o)
			j.late.completed(t, o)
			j.members.completed(t, o)
		}
	}
	any := t.Oldest(func(*facts.Op) bool { return true })
	remove := t.Oldest(func(o *facts.Op) bool { return o.Kind == histories.Remove })
	wait := t.Oldest(func(o *facts.Op) bool { return o.Kind == histories.Wait })
	set := t.Oldest(func(o *facts.Op) bool { return o.Kind == histories.Set })
	for lock := range t.LocksThat(facts.Is(histories.Barrier)) {
		of := j.singles.Make(lock, func() *singleBarrier { return &singleBarrier{sweep: newBarrierSweep()} })
		of.sweep.take(settled[lock])
		of.sweep.judge(remove(lock), func(d demand, removes int) {
			if e.Sweeps {
				of.violations++
				j.v.Violate(func() verdict.Witness { return passedEarly(t, d, removes) })
			}
		})
		if !t.Last {
			of.sweep.advance(min(remove(lock)-1, t.End))
		}
		of.sweep.forget(min(wait(lock), t.End+1), min(set(lock), t.End+1))
		if e.Searches {
			of.search.window(&e.Caps, t, settled[lock], any(lock))
		}
		kept += of.kept()
	}
	for lock := range t.LocksThat(facts.Is(histories.DoubleBarrier)) {
		of := j.doubles.Make(lock, func() *doubleBarrier { return &doubleBarrier{size: t.Header.Locks[lock.Lock].Size} })
		of.take(j.v, t, settled[lock])
		of.judge(j.v, t, lock.Lock)
		kept += of.kept()
	}
	return kept
}

// kept returns the number of things that the next window visits again.
func (of *singleBarrier) kept() int {
	s, x := &of.sweep, &of.search.ops
	return len(s.sets) + len(s.removes) + len(s.waits) + len(s.begun) + len(s.lost) + len(x.Sets) + len(x.Removes) + len(x.Waits)
}

// kept returns the number of things that the next window visits again.
func (d *doubleBarrier) kept() int {
	n := len(d.seen)
	for _, r := range d.rounds {
		n += len(r.enters) + len(r.leaves)
	}
	return n
}

func (j *barriersJudge) Conclude(e *judge.Engines, t *facts.Trace) {
	v := j.v
	j.late.share(t.Header.Clients)
	j.late.judge(t, v)
	j.late.twice(t, v)
	j.late.done(t, v)
	j.members.judge(t, v, j.late.users)
	var shown, idle []string
	for _, r := range t.Recipes() {
		switch r {
		case histories.Barrier:
			passed, held := 0, 0
			for lock := range t.LocksThat(facts.Is(r)) {
				of := j.singles.Of(lock)
				e.Compare(t, v, lock.Lock, of.violations > 0, of.search.Answer)
				passed, held = passed+of.sweep.passed, held+of.sweep.held
			}
			shown = append(shown, words.Count(passed, "wait")+" at a barrier")
			v.Count("waits that passed", passed)
			v.Count("waits begun while the barrier was up", held)
			if held == 0 {
				idle = append(idle, "no process waited at a barrier that was up")
			}
		case histories.DoubleBarrier:
			entered, left, nameless := 0, 0, 0
			for lock := range t.LocksThat(facts.Is(r)) {
				of := j.doubles.Of(lock)
				entered, left, nameless = entered+of.entered, left+of.left, nameless+of.nameless
			}
			shown = append(shown, words.Count(entered, "member")+" of a double barrier")
			v.Count("members that entered", entered)
			v.Count("members that left", left)
			switch {
			case nameless > 0:
				idle = append(idle, fmt.Sprintf("%s of a double barrier named no round (generation)", words.Count(nameless, "enter")))
			case entered == 0:
				idle = append(idle, "no process entered a double barrier")
			}
		}
	}
	switch {
	case v.Outcome == verdict.Unknown: // the engines disagree
	case len(idle) > 0 && v.Violations == 0:
		v.Idle(strings.Join(idle, ", "))
	default:
		v.Conclude("none was early: "+strings.Join(shown, ", "), fmt.Sprintf("one passed too early, or too late, %s", words.Times(v.Violations)))
	}
}
