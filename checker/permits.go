package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
	"github.com/zkverify/zkverify/histories"
)

// permits: whenever permits are granted, there is room for them: with those that
// are held already they are no more than the size in force. A size that is
// lowered takes nothing from anybody, so that more may be held than there are,
// but nobody gets any until enough are given back. While the size stays the same,
// this says that the permits held are never more than there are.
//
// Where the changes of the size follow one another, both engines decide this, and
// must agree. Where they overlap, as one that was never answered does with all
// after it, the order in which they took effect has to be guessed as well: the interval engine judges by the
// largest size that can have been in force, and what it lets pass is decided by
// Porcupine alone. If that gives up, the verdict is unknown.
func (c *check) permits(t *trace) Verdict {
	v := Verdict{Guarantee: Permits, Promised: true, Expected: true}
	raw, grants, changes, open, unknown := 0, 0, 0, 0, ""
	for _, lock := range t.of(histories.Recipe.HasPermits) {
		holds, sizes := t.byLock[lock], t.sizesOf(lock)
		if sizes.all[0].size == 0 {
			unknown = fmt.Sprintf("the history does not say how many permits %q has", lock)
			continue
		}
		grants += len(holds)
		changes += len(sizes.all) - 1
		if !sizes.exact {
			open++
		}
		pieces := permitPieces(holds, sizes)
		before := v.Violations
		if c.sweeps() {
			noRoom(pieces, sizes, func(s shortage) { v.violate(func() Witness { return t.tooMany(s, sizes) }) })
			noRoom(permitPieces(bare(holds), sizes), sizes, func(shortage) { raw++ })
		}
		found := v.Violations > before
		if !c.searches() {
			if !sizes.exact {
				v.gaveUp = fmt.Sprintf("nobody knows in which order the changes of the size of %q took effect, and only Porcupine can try them", lock)
			}
			continue
		}
		a := c.search.permits(pieces, sizes)
		if a.result == porcupine.Illegal && !found && !sizes.exact {
			v.violate(func() Witness { return t.noOrder(lock, span{a.from, a.to}) })
			continue
		}
		c.compare(t, &v, lock, found, a)
	}
	v.count("grants", grants)
	v.count("changes of a size", changes)
	v.count("grants without room", v.Violations)
	v.count("grants without room excused by a forced expiry or a pause", max(raw-v.Violations, 0))
	v.count("semaphores whose changes overlap", open)
	switch {
	case v.Outcome == Unknown: // the engines disagree
	case unknown != "" && v.Violations == 0:
		v.Outcome, v.Reason = Unknown, unknown
	case grants == 0:
		v.idle("nobody ever held a permit")
	default:
		why := fmt.Sprintf("%s, never without room for them", plural(grants, "grant"))
		if changes > 0 {
			why += ", with " + plural(changes, "change") + " of a size"
		}
		v.conclude(why, "permits were granted that there were not, "+plural(v.Violations, "time"))
	}
	return v
}

// permitPieces returns the parts of the holds that count. When the size changes,
// what follows an excuse is left out: it was not granted there, so that nobody
// can say which size it would have to fit.
func permitPieces(holds []*hold, sizes *sizes) []piece {
	pieces := piecesOf(holds)
	if len(sizes.all) == 1 {
		return pieces
	}
	seen := map[*hold]bool{}
	return slices.DeleteFunc(pieces, func(p piece) bool {
		defer func() { seen[p.hold] = true }()
		return seen[p.hold]
	})
}

// tooMany tells of a grant for which there was no room.
func (t *trace) tooMany(s shortage, sizes *sizes) Witness {
	h := s.granted.hold
	q := h.party()
	until, sum := s.granted.to, h.permits
	var held []string
	var parties []Party
	for _, p := range s.held {
		held = append(held, fmt.Sprintf("%v held %d", p.hold.party(), p.hold.permits))
		parties = append(parties, p.hold.party())
		sum += p.hold.permits
		until = min(until, p.to)
	}
	w := t.newWitness(h.lock, s.granted.from, until, append(parties, q)...)
	w.What = fmt.Sprintf("%v was granted %s of semaphore %q at %s", q, plural(h.permits, "permit"), w.Lock, at(s.granted.from))
	if len(held) > 0 {
		w.What += " while " + strings.Join(held, ", ")
	}
	most := sizes.mostIn(s.granted.call, s.granted.from)
	switch {
	case len(sizes.all) == 1:
		w.What += fmt.Sprintf(": %d, and there are %d", sum, most)
	case sum > most:
		w.What += fmt.Sprintf(": %d, and there had been %d at most since it asked at %s", sum, most, at(s.granted.call))
	default:
		w.What += fmt.Sprintf(": %d, for which there had been no room at any time since it asked at %s", sum, at(s.granted.call))
	}
	for _, p := range parties {
		if ended, ok := t.expired[p.Session]; ok && ended < w.To {
			w.What += fmt.Sprintf("; the session of process %d was seen to end at %s", p.Process, at(ended))
		}
	}
	return w
}

// noOrder tells of grants that no order of the changes of the size allows.
func (t *trace) noOrder(lock string, when span) Witness {
	w := t.newWitness(lock, when.from, min(when.to, t.end))
	w.What = fmt.Sprintf("in whatever order the changes of the size of semaphore %q took effect, one of the grants between %s and %s found no room", lock, at(w.From), at(w.To))
	return w
}
