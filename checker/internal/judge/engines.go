package judge

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// Engines are the engines that judges use, and their limits.
type Engines struct {
	Sweeps   bool // the interval engine judges
	Searches bool // Porcupine judges
	Caps     Caps
	// NotHeldViolates is set if a release that is answered "not held" is a violation.
	NotHeldViolates bool

	Notes         []string // limits of a verdict
	Disagreements []string // of the engines
}

// Compare compares the answer of the search for one lock with the result of the interval
// engine.
func (e *Engines) Compare(t *facts.Trace, v *verdict.Verdict, lock string, found bool, a Answer) {
	switch {
	case !e.Searches:
	case a.Undecided():
		v.GiveUp(fmt.Sprintf("Porcupine gave up on lock %q because %s", lock, a.Why))
	case !e.Sweeps && a.Illegal:
		v.Violate(func() verdict.Witness { return noOrderOf(t, lock, a) })
	case e.Sweeps && a.Illegal != found:
		e.disagree(v, lock, found)
	}
}

// noOrderOf returns a witness of a search that found no order, where no better witness is
// known.
func noOrderOf(t *facts.Trace, lock string, a Answer) verdict.Witness {
	w := NewWitness(t, lock, a.From, min(a.To, t.End))
	w.What = fmt.Sprintf("Porcupine finds no order in which %s of lock %q, between %s and %s, can have taken effect", words.Count(a.N, "step"), lock, verdict.At(a.From), verdict.At(min(a.To, t.End)))
	return w
}

// disagree sets v to unknown, because of a bug of zkverify, and records the disagreement.
func (e *Engines) disagree(v *verdict.Verdict, lock string, found bool) {
	engine := "Porcupine"
	if found {
		engine = "the interval engine"
	}
	v.Outcome = verdict.Unknown
	v.Reason = fmt.Sprintf("BUG OF ZKVERIFY: only %s sees a violation on lock %q; please report this history", engine, lock)
	e.Disagreements = append(e.Disagreements, fmt.Sprintf("%s of lock %q: only %s sees a violation", v.Guarantee, lock, engine))
}
