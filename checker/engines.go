package checker

import (
	"fmt"

	"github.com/zkverify/zkverify/internal/words"
)

// engines are what judges judge with.
type engines struct {
	sweeps   bool // the interval engine judges
	searches bool // Porcupine does
	caps     searchCaps
	// notHeldViolates says that a release which is answered "not held" is a violation.
	notHeldViolates bool

	notes         []string // that limit a verdict
	disagreements []string // of the engines
}

// compare holds the answer of the search for one lock against what the interval
// engine found there.
func (e *engines) compare(t *trace, v *Verdict, lock string, found bool, a answer) {
	switch {
	case !e.searches:
	case a.undecided():
		v.giveUp(fmt.Sprintf("Porcupine gave up on lock %q because %s", lock, a.why))
	case !e.sweeps && a.illegal:
		v.violate(func() Witness { return t.noOrderOf(lock, a) })
	case e.sweeps && a.illegal != found:
		e.disagree(v, lock, found)
	}
}

// noOrderOf tells of a search that found nothing, for lack of a better witness.
func (t *trace) noOrderOf(lock string, a answer) Witness {
	w := t.newWitness(lock, a.from, min(a.to, t.end))
	w.What = fmt.Sprintf("Porcupine finds no order in which %s of lock %q, between %s and %s, can have taken effect", words.Count(a.n, "step"), lock, at(a.from), at(min(a.to, t.end)))
	return w
}

// disagree makes v worthless, loudly.
func (e *engines) disagree(v *Verdict, lock string, found bool) {
	engine := "Porcupine"
	if found {
		engine = "the interval engine"
	}
	v.Outcome = Unknown
	v.Reason = fmt.Sprintf("BUG OF ZKVERIFY: only %s sees a violation on lock %q; please report this history", engine, lock)
	e.disagreements = append(e.disagreements, fmt.Sprintf("%s of lock %q: only %s sees a violation", v.Guarantee, lock, engine))
}
