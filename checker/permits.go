package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// permitsJudge: whenever permits are granted, there is room for them: with those
// that are held already they are no more than the size in force. A size that is
// lowered takes nothing from anybody, so that more may be held than there are,
// but nobody gets any until enough are given back. While the size stays the same,
// this says that the permits held are never more than there are.
//
// Where the changes of the size follow one another, both engines decide this, and
// must agree. Where they overlap, as one that was never answered does with all
// after it, the order in which they took effect has to be guessed as well: the interval engine judges by the
// largest size that can have been in force, and what it lets pass is decided by
// Porcupine alone. If that gives up, the verdict is unknown.
//
// A target may say by which transactions it grants permits and changes the size: see
// sizeOrder.
//
// The judge keeps what is held, and what came after the last instant that no
// acquire can be moved across: see placing. It comes as soon as all acquires that
// were under way when the size dropped have returned.
type permitsJudge struct {
	v                    *Verdict
	locks                map[string]*permitsOf
	raw, grants, changes int
}

// permitsOf is what the judge knows of one semaphore.
type permitsOf struct {
	violations int
	overlap    bool // changes of the size do
	counted    permitSweep
	bare       permitSweep // as if nothing were excused
	search     holdingsSearch
	order      sizeOrder
}

func newPermitsJudge(_ *trace, v *Verdict) *permitsJudge {
	v.Promised, v.Expected = true, true
	return &permitsJudge{v: v, locks: map[string]*permitsOf{}}
}

func (j *permitsJudge) window(e *engines, t *trace) {
	changes := map[string][]sizeChange{}
	for _, o := range t.ops {
		if o.kind == histories.SetSize && t.settled(o) && o.result != histories.Fail {
			changes[o.lock] = append(changes[o.lock], changeOf(o))
		}
	}
	grants := t.grantsOf()
	acquire := t.oldest((*op).acquires)
	resized := t.oldest(func(o *op) bool { return o.kind == histories.SetSize })
	for _, lock := range t.locksThat(histories.Recipe.HasPermits) {
		first := t.firstSize(lock)
		if first.size == 0 {
			continue
		}
		of := j.locks[lock]
		if of == nil {
			of = &permitsOf{
				counted: newPermitSweep(first, permitPieces), bare: newPermitSweep(first, func(holds []*hold, _ *sizes) []piece { return wholePieces(holds) }),
				search: newHoldingsSearch(besidePermits, first.size),
			}
			j.locks[lock] = of
		}
		holds, changes := t.byLock[lock], changes[lock]
		j.grants += countBegun(t, holds)
		j.changes += len(changes)
		known := horizon{until: min(t.end, resized(lock)-1), asked: acquire(lock)}
		pending := min(acquire(lock), resized(lock))
		if t.last {
			known.until, pending = forever, forever
		}
		if e.sweeps {
			of.order.window(grants[lock], changes, pending, func(g *op, most sizeChange) {
				j.v.violate(func() Witness { return t.beyondSize(g, most) })
			})
		}
		sizes := of.counted.sizes(changes)
		of.overlap = of.overlap || !sizes.exact
		of.counted.window(t, holds, sizes, known, func(s shortage) {
			if !e.sweeps {
				return
			}
			of.violations++
			since := max(s.granted.call, of.counted.since)
			j.v.violate(func() Witness { return t.tooMany(s, sizes, since, of.counted.changed < forever) })
		})
		of.bare.window(t, holds, of.bare.sizes(changes), known, func(shortage) {
			if e.sweeps {
				j.raw++
			}
		})
		if e.searches {
			of.search.window(&e.caps, t, holds, changes, known)
		}
	}
}

func (j *permitsJudge) conclude(e *engines, t *trace) {
	v := j.v
	overlap, unknown := 0, ""
	for _, lock := range t.locksThat(histories.Recipe.HasPermits) {
		of := j.locks[lock]
		if of == nil {
			unknown = fmt.Sprintf("the history does not say how many permits %q has", lock)
			continue
		}
		if of.overlap {
			overlap++
		}
		a := of.search.answer
		switch {
		case !e.searches:
			if of.overlap {
				v.leaveUndecided(fmt.Sprintf("nobody knows in which order the changes of the size of %q took effect, and only Porcupine can try them", lock))
			}
		case a.illegal && of.violations == 0 && of.overlap:
			v.violate(func() Witness { return t.noOrder(lock, span{a.from, a.to}) })
		default:
			e.compare(t, v, lock, of.violations > 0, a)
		}
	}
	v.count("grants", j.grants)
	v.count("changes of a size", j.changes)
	v.count("grants without room", v.Violations)
	v.count("grants without room excused by a forced expiry or a pause", max(j.raw-v.Violations, 0))
	v.count("semaphores whose changes overlap", overlap)
	switch {
	case v.Outcome == Unknown: // the engines disagree
	case unknown != "" && v.Violations == 0:
		v.Outcome, v.Reason = Unknown, unknown
	case j.grants == 0:
		v.idle("nobody ever held a permit")
	default:
		why := fmt.Sprintf("%s, never without room for them", words.Count(j.grants, "grant"))
		if j.changes > 0 {
			why += ", with " + words.Count(j.changes, "change") + " of a size"
		}
		v.conclude(why, "permits were granted that there were not, "+words.Times(v.Violations))
	}
}

// permitPieces returns the parts of the holds that count. Once the size has
// changed, what follows an excuse is left out: it was not granted there, so that
// nobody can say which size it would have to fit.
func permitPieces(holds []*hold, sizes *sizes) []piece {
	seen := map[*hold]bool{}
	return slices.DeleteFunc(piecesOf(holds), func(p piece) bool {
		defer func() { seen[p.hold] = true }()
		return seen[p.hold] && p.from >= sizes.changed
	})
}

// permitSweep is the interval engine of one semaphore, as windows of the history
// show it.
type permitSweep struct {
	placing
	pieces  func([]*hold, *sizes) []piece
	holds   []*hold       // not over, or with a part after what is decided
	changes []sizeChange  // that can have been in force since
	changed time.Duration // when the size was first changed
}

func newPermitSweep(first sizeChange, pieces func([]*hold, *sizes) []piece) permitSweep {
	return permitSweep{placing: newPlacing(), pieces: pieces, changes: []sizeChange{first}, changed: forever}
}

// sizes takes changes of the size in and returns what is known of it.
func (w *permitSweep) sizes(changes []sizeChange) *sizes {
	w.changes = append(w.changes, changes...)
	all := newSizes(slices.Clone(w.changes))
	for _, c := range changes {
		w.changed = min(w.changed, c.call)
	}
	all.changed = w.changed
	return all
}

// window takes the holds of a window in, and finds the places of those that can
// be told by now.
func (w *permitSweep) window(t *trace, holds []*hold, sizes *sizes, known horizon, report func(shortage)) {
	for _, h := range holds {
		if t.begun(h) {
			w.holds = append(w.holds, h)
		}
	}
	pieces := w.pieces(w.holds, sizes)
	until := forever
	if !t.last {
		for _, h := range w.holds {
			if !t.over(h) && len(h.pieces()) == 0 { // the excuse goes on
				known.asked = min(known.asked, h.call)
			}
		}
		until = w.decided(known.until, known.asked, pieces, sizes)
	}
	w.settle(until, pieces, sizes, report)
	w.holds = slices.DeleteFunc(w.holds, func(h *hold) bool { return t.over(h) && h.end <= until })
	w.changes = slices.DeleteFunc(slices.Clone(sizes.all), func(c sizeChange) bool { return c.until < until })
}

// tooMany tells of a grant for which there was no room. It was asked for at since,
// or before, and the size did not drop in between.
func (t *trace) tooMany(s shortage, sizes *sizes, since time.Duration, changes bool) Witness {
	s.granted = s.granted.now(piecesOf([]*hold{s.granted.hold}))
	h := s.granted.hold
	q := h.party()
	until, sum := s.granted.to, h.permits
	var held []string
	var parties []Party
	for _, p := range s.held {
		p = p.now(piecesOf([]*hold{p.hold}))
		held = append(held, fmt.Sprintf("%v held %d", p.hold.party(), p.hold.permits))
		parties = append(parties, p.hold.party())
		sum += p.hold.permits
		until = min(until, p.to)
	}
	w := t.newWitness(h.lock, s.granted.from, until, append(parties, q)...)
	w.What = fmt.Sprintf("%v was granted %s of semaphore %q at %s", q, words.Count(h.permits, "permit"), w.Lock, at(s.granted.from))
	if len(held) > 0 {
		w.What += " while " + strings.Join(held, ", ")
	}
	most := sizes.mostIn(since, s.granted.from)
	switch {
	case !changes:
		w.What += fmt.Sprintf(": %d, and there are %d", sum, most)
	case sum > most:
		w.What += fmt.Sprintf(": %d, and there had been %d at most since it asked at %s", sum, most, at(s.granted.call))
	default:
		w.What += fmt.Sprintf(": %d, for which there had been no room at any time since it asked at %s", sum, at(s.granted.call))
	}
	for _, end := range w.SessionEnds {
		if slices.ContainsFunc(parties, func(p Party) bool { return p.Process == end.Process && p.Session == end.Session }) {
			w.What += "; " + end.String()
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
