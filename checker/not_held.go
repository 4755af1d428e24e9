package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// notHeldJudge is the judge of a guarantee of what is held, with that of releases
// that were answered "not held".
type notHeldJudge struct {
	judge
	of   func(histories.Recipe) bool
	n    int
	v    *Verdict // of the guarantee
	mine *Verdict // has the violations of this judge
}

// withNotHeld makes the judge of a guarantee of the locks of some recipes one that
// looks at releases which were answered "not held", too.
func withNotHeld(some func(histories.Recipe) bool, begin newJudge) newJudge {
	return func(t *trace, v *Verdict) judge {
		return &notHeldJudge{judge: begin(t, v), of: some, v: v, mine: v.fresh()}
	}
}

func (j *notHeldJudge) window(e *engines, t *trace) {
	j.judge.window(e, t)
	for _, o := range t.ops {
		if o.kind != histories.Release || o.result != histories.Fail || !j.of(o.recipe()) || !t.takenAway(o) {
			continue
		}
		j.n++
		if e.notHeldViolates {
			j.mine.violate(func() Witness { return t.notHeld(o) })
		}
	}
}

func (j *notHeldJudge) conclude(e *engines, t *trace) {
	j.judge.conclude(e, t)
	v := j.v
	switch {
	case j.n == 0 || v.Outcome == Unknown:
	case e.notHeldViolates:
		why := words.Count(j.n, "holder") + " had not been told of a loss when a release was answered that the lock was not held"
		if v.Outcome == Violated {
			why = v.Reason + "; " + why
		}
		v.add(j.mine)
		v.conclude("", why)
	default:
		e.notes = append(e.notes, fmt.Sprintf("%s: %s failed before the holder was told of a loss, and each counts as being told (--release-not-held)", v.Guarantee, words.Count(j.n, "release")))
	}
}

// takenAway reports whether o, a release that failed, is an outermost one by a
// holder that had not been told of a loss, and was answered that it did not hold
// the lock.
func (t *trace) takenAway(o *op) bool {
	h := o.hold
	excused := func(s span) bool { return s.from <= o.ret && o.call <= s.to }
	return h != nil && h.endEvent == o.invoke && !o.told && !slices.ContainsFunc(t.faults.excuses(h), excused)
}

func (t *trace) notHeld(o *op) Witness {
	p := o.hold.party()
	w := t.newWitness(o.lock, o.call, o.ret, p)
	w.What = fmt.Sprintf("%v held lock %q since %s and was not told of a loss, but its release of %s was answered at %s that it did not hold it%s",
		p, o.lock, at(o.hold.start), at(o.call), at(o.ret), because(o.why))
	return w
}
