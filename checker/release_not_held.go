package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// ReleaseNotHeld says how to read that a holder, who had not been told of a loss,
// releases its lock and is answered that it did not hold it: a release that
// fails. Histories of other makers do not say which is meant, and the verdict may
// turn on it.
type ReleaseNotHeld string

const (
	// NotHeldAsLost takes the answer for word of a loss: the belief had ended when
	// the release was called, as with any other, and nothing follows. It is the
	// default of histories that a run of zkverify has left. A lock that promises to tell of losses before is judged by
	// [LossIsTold].
	NotHeldAsLost ReleaseNotHeld = histories.NotHeldAsLost
	// NotHeldAsViolation takes it for a proof that the lock had been taken away
	// from its holder without a word: a violation of mutual exclusion, of
	// read/write or of permits, whether or not another holder is on record. A
	// forced expiry excuses it within the bound, and so does word of the loss that
	// came while the release was under way.
	NotHeldAsViolation ReleaseNotHeld = histories.NotHeldViolation
)

// WithReleaseNotHeld chooses how a release that is answered "not held" is read.
// The default, and what an empty one means, is what the header of the history says.
func WithReleaseNotHeld(r ReleaseNotHeld) Option { return func(c *check) { c.notHeld = r } }

// conventions chooses what the options leave open as the header says.
func (c *check) conventions(header *histories.Header) {
	if c.notHeld != "" {
		return
	}
	c.notHeld = ReleaseNotHeld(header.ReleaseNotHeld)
	if c.notHeld == NotHeldAsViolation {
		c.notes = append(c.notes, "the history has no header of zkverify, or has been made of one that has none; it is read as Knossos reads it: an operation that fails had no effect, so a holder whose release fails, and who was not told of a loss, still believed to hold the lock (--release-not-held violation; as-lost is the other reading)")
	}
}

// judge returns the judge of a guarantee; for one of what is held, with that of
// releases that were answered "not held".
func (g *Guarantee) judge() judge {
	of := map[string]func(histories.Recipe) bool{
		MutualExclusion: histories.Recipe.Exclusive, ReadersAndWriters: is(histories.ReadWrite), Permits: histories.Recipe.HasPermits,
	}[g.Name]
	if of == nil {
		return g.begin()
	}
	return &notHeldJudge{judge: g.begin(), of: of}
}

type notHeldJudge struct {
	judge
	of func(histories.Recipe) bool
	n  int
	v  Verdict // its violations
}

func (j *notHeldJudge) window(c *check, t *trace) {
	j.judge.window(c, t)
	for _, o := range t.ops {
		if o.kind != histories.Release || o.result != histories.Fail || !j.of(o.of.recipe) || !t.takenAway(o) {
			continue
		}
		j.n++
		if c.notHeld == NotHeldAsViolation {
			j.v.violate(func() Witness { return t.notHeld(o) })
		}
	}
}

func (j *notHeldJudge) verdict(c *check, t *trace) Verdict {
	v := j.judge.verdict(c, t)
	switch {
	case j.n == 0 || v.Outcome == Unknown:
	case c.notHeld == NotHeldAsViolation:
		why := words.Count(j.n, "holder") + " had not been told of a loss when a release was answered that the lock was not held"
		if v.Outcome == Violated {
			why = v.Reason + "; " + why
		}
		v.Violations += j.v.Violations
		v.found = append(v.found, j.v.found...)
		v.conclude("", why)
	default:
		c.notes = append(c.notes, fmt.Sprintf("%s: %s failed before the holder was told of a loss, and each counts as being told (--release-not-held)", v.Guarantee, words.Count(j.n, "release")))
	}
	return v
}

// takenAway reports whether o, a release that failed, is an outermost one by a
// holder that had not been told of a loss, and was answered that it did not hold
// the lock.
func (t *trace) takenAway(o *op) bool {
	h := o.hold
	excused := func(s span) bool { return s.from <= o.ret && o.call <= s.to }
	return h != nil && h.endEvent == o.invoke && !o.told && !slices.ContainsFunc(t.excuses(h), excused)
}

func (t *trace) notHeld(o *op) Witness {
	p := o.hold.party()
	w := t.newWitness(o.lock, o.call, o.ret, p)
	w.What = fmt.Sprintf("%v held lock %q since %s and was not told of a loss, but its release of %s was answered at %s that it did not hold it%s",
		p, o.lock, at(o.hold.start), at(o.call), at(o.ret), because(o.why))
	return w
}
