package holding

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// notHeldJudge is the judge of a guarantee about holds, extended by the releases that were
// answered "not held". A release that returned because its context had ended has no such answer.
type notHeldJudge struct {
	judge.Judge
	some func(histories.Recipe) bool
	n    int
	v    *verdict.Verdict // the verdict on the guarantee
	mine *verdict.Verdict // holds the violations of this judge
}

// WithNotHeld extends the judge of a guarantee of some recipes' locks by the releases that were
// answered "not held".
func WithNotHeld(some func(histories.Recipe) bool, begin judge.Maker) judge.Maker {
	return func(t *facts.Trace, v *verdict.Verdict) judge.Judge {
		return &notHeldJudge{Judge: begin(t, v), some: some, v: v, mine: v.Fresh()}
	}
}

func (j *notHeldJudge) Window(e *judge.Engines, t *facts.Trace) int {
	kept := j.Judge.Window(e, t)
	for _, o := range facts.Each(t, t.Ops) {
		if o.Kind != histories.Release || o.Result != histories.Fail || o.Late() > 0 || !j.some(o.Recipe()) || !takenAway(t, o) {
			continue
		}
		j.n++
		if e.NotHeldViolates {
			j.mine.Violate(func() verdict.Witness { return notHeld(t, o) })
		}
	}
	return kept
}

func (j *notHeldJudge) Conclude(e *judge.Engines, t *facts.Trace) {
	j.Judge.Conclude(e, t)
	v := j.v
	switch {
	case j.n == 0 || v.Outcome == verdict.Unknown:
	case e.NotHeldViolates:
		why := words.Count(j.n, "holder") + " had not been told of a loss when a release was answered that the lock was not held"
		if v.Outcome == verdict.Violated {
			why = v.Reason + "; " + why
		}
		v.Merge(j.mine)
		v.Conclude("", why)
	default:
		e.Notes = append(e.Notes, fmt.Sprintf("%s: %s failed before the holder was told of a loss, and each counts as being told (--release-not-held)", v.Guarantee, words.Count(j.n, "release")))
	}
}

// takenAway reports whether o, a release that failed, is an outermost one by a holder that had
// not been told of a loss, and whose loss is not excused.
func takenAway(t *facts.Trace, o *facts.Op) bool {
	h := o.Hold
	excused := func(s facts.Span) bool { return s.From <= o.Ret && o.Call <= s.To }
	return h != nil && h.EndEvent == o.Invoke && !o.Told && !slices.ContainsFunc(t.Faults.Excuses(h), excused)
}

func notHeld(t *facts.Trace, o *facts.Op) verdict.Witness {
	p := judge.HoldParty(o.Hold)
	w := judge.NewWitness(t, o.Lock, o.Call, o.Ret, p)
	w.What = fmt.Sprintf("%v held lock %q since %s and was not told of a loss, but its release of %s was answered at %s that it did not hold it%s",
		p, o.Lock, verdict.At(o.Hold.Start), verdict.At(o.Call), verdict.At(o.Ret), verdict.Because(o.Why()))
	return w
}
