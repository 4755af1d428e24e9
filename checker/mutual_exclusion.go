package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// overlapsUnderPauses is the name of a figure.
const overlapsUnderPauses = "overlaps under pauses of a holder's process, which no lock can prevent"

// exclusionJudge: no two owners believe at one instant to hold one lock.
//
// The interval engine decides and finds the witnesses; Porcupine judges the
// same pieces and must agree.
//
// Two holds that overlap are found in the window in which the first of them
// ends: they are both in it, and what becomes of the other one later makes no
// difference to their overlap.
type exclusionJudge struct {
	v                           *Verdict
	locks                       map[string]*exclusionOf
	holds, raw, paused, growing int
}

// exclusionOf is what the judge knows of one lock.
type exclusionOf struct {
	violations int
	search     holdingsSearch
}

func newExclusionJudge(_ *trace, v *Verdict) *exclusionJudge {
	v.Promised, v.Expected = true, true
	return &exclusionJudge{v: v, locks: map[string]*exclusionOf{}}
}

func (j *exclusionJudge) window(e *engines, t *trace) {
	for _, lock := range t.locksThat(histories.Recipe.Exclusive) {
		of := j.locks[lock]
		if of == nil {
			of = &exclusionOf{search: newHoldingsSearch(nil, 0)}
			j.locks[lock] = of
		}
		holds := t.byLock[lock]
		j.holds += countBegun(t, holds)
		pieces := piecesOf(holds)
		before := of.violations
		if e.sweeps {
			sweep(pieces, differ, func(a, b piece) bool {
				if !t.over(a.hold) && !t.over(b.hold) {
					return true // not yet
				}
				if a.hold.token != (histories.Token{}) && a.hold.token.Less(b.hold.token) {
					j.growing++
				}
				j.v.violate(func() Witness { return t.doubleHold(a, b) })
				of.violations++
				return of.violations < maxPairs
			})
			if !slices.ContainsFunc(holds, excused) {
				j.raw += of.violations - before
			} else {
				sweep(piecesOf(bare(holds)), differ, func(a, b piece) bool {
					if t.over(a.hold) || t.over(b.hold) {
						j.raw++
						if t.pausedOverlap(a, b) {
							j.paused++
						}
					}
					return j.raw < maxPairs
				})
			}
		}
		if e.searches {
			of.search.window(&e.caps, t, holds, nil, allKnown(t))
		}
	}
}

func (j *exclusionJudge) conclude(e *engines, t *trace) {
	v := j.v
	for _, lock := range t.locksThat(histories.Recipe.Exclusive) {
		of := j.locks[lock]
		e.compare(t, v, lock, of.violations > 0, of.search.answer)
	}
	v.count("holds", j.holds)
	v.count("overlaps", v.Violations)
	pauses := min(j.paused, max(j.raw-v.Violations, 0))
	v.count("overlaps excused by a forced expiry", max(j.raw-v.Violations-pauses, 0))
	if t.faults.pauses() {
		v.count(overlapsUnderPauses, pauses)
	}
	if v.Outcome == Unknown {
		return // the engines disagree
	}
	if j.holds == 0 {
		v.idle("nobody ever held a lock")
		return
	}
	why := fmt.Sprintf("two owners held one lock at the same time, %s", words.Times(v.Violations))
	if v.Violations > 0 && j.growing == v.Violations {
		why += "; exclusion broken, fencing would have protected"
	}
	v.conclude(words.Count(j.holds, "hold")+", no two owners at the same time", why)
}

// pausedOverlap reports whether a pause excuses two beliefs that overlap for
// having done so: that one of them went on in it.
func (t *trace) pausedOverlap(a, b piece) bool {
	from, to := max(a.from, b.from), min(a.to, b.to)
	return len(t.faults.pausedIn(a.hold.process, from-t.faults.wakeGrace, to))+len(t.faults.pausedIn(b.hold.process, from-t.faults.wakeGrace, to)) > 0
}

// countBegun counts the holds that began in this window.
func countBegun(t *trace, holds []*hold) int {
	n := 0
	for _, h := range holds {
		if t.begun(h) {
			n++
		}
	}
	return n
}

// doubleHold tells of two holds that overlap.
func (t *trace) doubleHold(a, b piece) Witness {
	return t.overlap(a, b, func(p, q Party) string { return fmt.Sprintf("%v and %v both held lock %q", p, q, a.hold.lock) })
}

// overlap tells of two holds that overlap and must not; say begins the sentence,
// of the one who held first and of the other.
func (t *trace) overlap(a, b piece, say func(p, q Party) string) Witness {
	from, to := max(a.from, b.from), min(a.to, b.to)
	if b.hold.start < a.hold.start {
		a, b = b, a
	}
	p, q := a.hold.party(), b.hold.party()
	w := t.newWitness(a.hold.lock, from, to, p, q)
	until := "to " + at(w.To) + ", for " + ms(w.To-w.From)
	if w.Open {
		until = "until the history ends at " + at(w.To)
	}
	w.What = fmt.Sprintf("%s from %s %s", say(p, q), at(from), until)
	w.What += w.ending()
	if a.hold.mode == histories.ModeRead || b.hold.mode == histories.ModeRead {
		return w // nothing fences what somebody reads
	}
	if a.hold.token != (histories.Token{}) && a.hold.token.Less(b.hold.token) {
		w.What += fmt.Sprintf("; their tokens grow (%s, %s), so fencing would have protected", token(p.Token), token(q.Token))
	}
	return w
}

func excused(h *hold) bool { return len(h.excuses) > 0 }
