package holding

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// OverlapsUnderPauses is the name of a figure.
const OverlapsUnderPauses = "overlaps under pauses of a holder's process, which no lock can prevent"

// exclusionJudge judges that no two owners believe at one instant that they hold one lock.
//
// The interval engine decides and finds the witnesses. Porcupine judges the same pieces and
// must agree.
//
// Two holds that overlap are found in the window in which the first of them ends. Both are in
// that window, and the later end of the other one makes no difference to their overlap.
type exclusionJudge struct {
	v               *verdict.Verdict
	locks           facts.PerLock[exclusionOf]
	holds, growing  int
	excused, paused int // pairs of holds that overlap and violate nothing; those of them under a pause
	causes          causes
}

// exclusionOf is the judge's record of one lock.
type exclusionOf struct {
	violations int
	search     *holdingsSearch // nil: no search was needed
}

// NewMutualExclusion returns the judge of locks that have one holder at a time.
func NewMutualExclusion(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised, v.Expected = true, true
	return &exclusionJudge{v: v}
}

func (j *exclusionJudge) Window(e *judge.Engines, t *facts.Trace) (kept int) {
	for lock := range t.LocksThat(histories.Recipe.Exclusive) {
		holds := lock.Holds()
		j.holds += countBegun(t, holds)
		of := j.locks.Of(lock)
		if of == nil {
			if len(holds) < 2 { // it overlaps with no other: most of a million locks get no record
				continue
			}
			of = j.locks.Make(lock, func() *exclusionOf { return &exclusionOf{} })
		}
		pieces := facts.PiecesOf(holds)
		if e.Sweeps {
			var violated map[[2]*facts.Op]bool
			if slices.ContainsFunc(holds, excused) {
				violated = map[[2]*facts.Op]bool{}
			}
			sweep(t, pieces, differ, t.Over, func(a, b facts.Piece) bool {
				if a.Hold.Token != (histories.Token{}) && a.Hold.Token.Less(b.Hold.Token) {
					j.growing++
				}
				if violated != nil {
					violated[pairOf(a, b)] = true
				}
				j.causes.add(a, b)
				j.v.ViolateFrom(max(a.From, b.From), func() verdict.Witness { return doubleHold(t, a, b) })
				of.violations++
				return of.violations < maxPairs
			})
			if violated != nil {
				sweep(t, facts.PiecesOf(facts.Bare(holds)), differ, t.Over, func(a, b facts.Piece) bool {
					if !violated[pairOf(a, b)] {
						j.excused++
						if pausedOverlap(t, a, b) {
							j.paused++
						}
					}
					return j.excused < maxPairs
				})
			}
		}
		if e.Searches {
			kept += of.searchIn(e, t, holds)
		}
	}
	return kept
}

// searchIn lets Porcupine search the holds of a window, and returns how many it keeps. A search
// that has found an order, and of which at most one hold goes on, is dropped: the next window
// shows that hold again.
func (of *exclusionOf) searchIn(e *judge.Engines, t *facts.Trace, holds []*facts.Hold) (kept int) {
	if of.search == nil {
		of.search = newHoldingsSearch(nil, 0)
	}
	s := of.search
	s.window(&e.Caps, t, holds, nil, allKnown(t))
	if s.ended && s.Answer == (judge.Answer{}) {
		of.search = nil
		return 0
	}
	return len(s.holds)
}

func (j *exclusionJudge) Conclude(e *judge.Engines, t *facts.Trace) {
	v := j.v
	for lock := range t.LocksThat(histories.Recipe.Exclusive) {
		if of := j.locks.Of(lock); of != nil {
			e.Compare(t, v, lock.Lock, of.violations > 0, of.search.answer())
		}
	}
	v.Count("holds", j.holds)
	v.Count("overlaps", v.Violations)
	v.Count("overlaps excused by a forced expiry", j.excused-j.paused)
	if t.Faults.Pauses() {
		v.Count(OverlapsUnderPauses, j.paused)
	}
	if v.Outcome == verdict.Unknown {
		return // the engines disagree
	}
	if j.holds == 0 {
		v.Idle("no client ever held a lock")
		return
	}
	why := fmt.Sprintf("two owners held one lock at the same time, %s", words.Times(v.Violations))
	if v.Violations > 0 && j.growing == v.Violations {
		why += "; exclusion broken, fencing would have protected"
	}
	why += j.causes.blame(t, v, doubleHold)
	v.Conclude(words.Count(j.holds, "hold")+", no two owners at the same time", why)
}

// pairOf returns the acquires of two holds, in one order whatever the order of the pieces.
func pairOf(a, b facts.Piece) [2]*facts.Op {
	x, y := a.Hold.Acquire, b.Hold.Acquire
	if cmp.Or(x.Invoke-y.Invoke, x.Part-y.Part) > 0 {
		x, y = y, x
	}
	return [2]*facts.Op{x, y}
}

// pausedOverlap reports whether a pause excuses the overlap of two beliefs: one of them went on
// during the pause.
func pausedOverlap(t *facts.Trace, a, b facts.Piece) bool {
	from, to := max(a.From, b.From), min(a.To, b.To)
	return len(t.Faults.PausedIn(a.Hold.Process, from-t.Faults.WakeGrace, to))+len(t.Faults.PausedIn(b.Hold.Process, from-t.Faults.WakeGrace, to)) > 0
}

// countBegun counts the holds that began in this window.
func countBegun(t *facts.Trace, holds []*facts.Hold) int {
	n := 0
	for _, h := range holds {
		if t.Begun(h) {
			n++
		}
	}
	return n
}

// doubleHold returns the witness of two holds that overlap.
func doubleHold(t *facts.Trace, a, b facts.Piece) verdict.Witness {
	return overlap(t, a, b, func(p, q verdict.Party) string { return fmt.Sprintf("%v and %v both held lock %q", p, q, a.Hold.Lock) })
}

// overlap returns the witness of two holds that overlap and must not. say begins the sentence,
// with the earlier holder p and the other holder q.
func overlap(t *facts.Trace, a, b facts.Piece, say func(p, q verdict.Party) string) verdict.Witness {
	from, to := max(a.From, b.From), min(a.To, b.To)
	if b.Hold.Start < a.Hold.Start {
		a, b = b, a
	}
	p, q := judge.HoldParty(a.Hold), judge.HoldParty(b.Hold)
	w := judge.NewWitness(t, a.Hold.Lock, from, to, p, q)
	until := "to " + verdict.At(w.To) + ", for " + verdict.Ms(w.To-w.From)
	if w.Open {
		until = "until the history ends at " + verdict.At(w.To)
	}
	w.What = fmt.Sprintf("%s from %s %s", say(p, q), verdict.At(from), until)
	w.What += w.Ending()
	judge.AddOrder(t, &w, a.Hold, b.Hold)
	if a.Hold.Mode == histories.ModeRead || b.Hold.Mode == histories.ModeRead {
		return w // fencing protects no reads
	}
	if a.Hold.Token != (histories.Token{}) && a.Hold.Token.Less(b.Hold.Token) {
		w.What += fmt.Sprintf("; their tokens grow (%s, %s), so fencing would have protected", verdict.Token(p.Token), verdict.Token(q.Token))
	}
	return w
}

func excused(h *facts.Hold) bool { return len(h.Excuses) > 0 }
