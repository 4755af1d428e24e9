package checker

import (
	"fmt"

	"github.com/anishathalye/porcupine"
	"github.com/zkverify/zkverify/histories"
)

// mutualExclusion: no two owners believe at one instant to hold one lock.
//
// The interval engine decides and finds the witnesses; Porcupine judges the
// same pieces and must agree.
func (c *check) mutualExclusion(t *trace) Verdict {
	v := Verdict{Guarantee: MutualExclusion, Promised: true, Expected: true}
	byLock := t.holdsByLock()
	raw, unsure, growing := 0, 0, 0
	all := t.exclusiveHolds()
	for _, lock := range t.exclusive() {
		holds := byLock[lock]
		pieces := piecesOf(holds)
		before := v.Violations
		sweep(pieces, func(a, b piece) bool {
			if a.hold.token != (histories.Token{}) && less(a.hold.token, b.hold.token) {
				growing++
			}
			v.violate(func() Witness { return t.doubleHold(a, b) })
			return v.Violations-before < maxPairs
		})
		found := v.Violations > before
		raw += overlaps(unexcused(holds))
		switch a := c.search.mutex(pieces); {
		case a.result == porcupine.Unknown:
			unsure++
			c.undecided(MutualExclusion, lock, a.why)
		case (a.result == porcupine.Illegal) != found:
			c.disagree(&v, lock, found)
		}
	}
	v.count("holds", len(all))
	v.count("overlaps", v.Violations)
	v.count("overlaps excused by a forced expiry", max(raw-v.Violations, 0))
	v.count("locks that Porcupine left undecided", unsure)
	if v.Outcome == Unknown {
		return v // the engines disagree
	}
	if len(all) == 0 {
		v.idle("nobody ever held a lock")
		return v
	}
	why := fmt.Sprintf("two owners held one lock at the same time, %s", plural(v.Violations, "time"))
	if v.Violations > 0 && growing == v.Violations {
		why += "; exclusion broken, fencing would have protected"
	}
	v.conclude(plural(len(all), "hold")+", no two owners at the same time", why)
	return v
}

// doubleHold tells of two holds that overlap.
func (t *trace) doubleHold(a, b piece) Witness {
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
	w.What = fmt.Sprintf("%v and %v both held lock %q from %s %s", p, q, w.Lock, at(from), until)
	if ended, ok := t.expired[p.Session]; ok && ended < w.To {
		w.What += fmt.Sprintf("; the session of process %d was seen to end at %s", p.Process, at(ended))
	}
	if a.hold.token != (histories.Token{}) && less(a.hold.token, b.hold.token) {
		w.What += fmt.Sprintf("; their tokens grow (%s, %s), so fencing would have protected", token(p.Token), token(q.Token))
	}
	return w
}

func (t *trace) holdsByLock() map[string][]*hold {
	m := make(map[string][]*hold, len(t.locks))
	for _, h := range t.holds {
		m[h.lock] = append(m[h.lock], h)
	}
	return m
}

// unexcused returns the holds as pieces with no excuse taken out.
func unexcused(holds []*hold) []piece {
	bare := make([]*hold, len(holds))
	for i, h := range holds {
		c := *h
		c.excuses = nil
		bare[i] = &c
	}
	return piecesOf(bare)
}

func less(a, b histories.Token) bool {
	return a.Zxid < b.Zxid || a.Zxid == b.Zxid && a.Sub < b.Sub
}
