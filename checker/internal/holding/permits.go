package holding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// permitsJudge judges that permits are granted only when there is room: together with the
// permits held they are at most the size in force. A lowered size takes no permit from a
// holder, so more may be held than the size, but no acquire is granted until enough are given
// back. While the size stays the same, the permits held therefore never exceed it.
//
// Where the changes of the size follow one another, both engines decide this, and must agree.
// Changes may overlap; one that was never answered overlaps all after it. Their order is then
// not known. The interval engine judges by the largest size that can have been in force, and
// Porcupine alone decides about the histories that it lets pass. If Porcupine gives up, the
// verdict is unknown.
//
// A target may report the transactions by which it grants permits and changes the size: see
// sizeOrder. The servers' log may show that a change was carried out twice: see sizeWrites.
//
// The judge keeps the pieces that are held, and those after the last instant that no acquire
// can be moved across: see placing. Such an instant comes as soon as all acquires that were
// under way when the size dropped have returned.
type permitsJudge struct {
	v                    *verdict.Verdict
	locks                facts.PerLock[permitsOf]
	raw, grants, changes int
	writes               sizeWrites
}

// permitsOf is the judge's record of one semaphore.
type permitsOf struct {
	violations int
	overlap    bool // changes of the size overlap
	counted    permitSweep
	bare       permitSweep // the same without excuses
	search     *holdingsSearch
	order      sizeOrder
}

// NewPermits returns the judge of semaphores.
func NewPermits(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised, v.Expected = true, true
	return &permitsJudge{v: v}
}

func (j *permitsJudge) Window(e *judge.Engines, t *facts.Trace) (kept int) {
	changes := map[*facts.LockInfo][]SizeChange{}
	for _, o := range facts.Each(t, t.Ops) {
		if o.Kind == histories.SetSize && t.Settled(o) && o.Result != histories.Fail {
			changes[o.Info()] = append(changes[o.Info()], changeOf(o))
			j.writes.take(t, o)
		}
	}
	grants := grantsOf(t)
	acquire := t.Oldest((*facts.Op).Acquires)
	resized := t.Oldest(func(o *facts.Op) bool { return o.Kind == histories.SetSize })
	for lock := range t.LocksThat(histories.Recipe.HasPermits) {
		first := firstSize(t, lock.Lock)
		if first.Size == 0 {
			continue
		}
		of := j.locks.Make(lock, func() *permitsOf {
			return &permitsOf{
				counted: newPermitSweep(first, PermitPieces), bare: newPermitSweep(first, func(holds []*facts.Hold, _ *Sizes) []facts.Piece { return facts.WholePieces(holds) }),
				search: newHoldingsSearch(BesidePermits, first.Size),
			}
		})
		holds, changes := lock.Holds(), changes[lock]
		j.grants += countBegun(t, holds)
		j.changes += len(changes)
		known := horizon{until: min(t.End, resized(lock)-1), asked: acquire(lock)}
		pending := min(acquire(lock), resized(lock))
		if t.Last {
			known.until, pending = facts.Forever, facts.Forever
		}
		if e.Sweeps {
			of.order.window(grants[lock], changes, pending, func(g *facts.Op, most SizeChange) {
				j.v.Violate(func() verdict.Witness { return beyondSize(t, g, most) })
			})
		}
		sizes := of.counted.sizes(changes)
		of.overlap = of.overlap || !sizes.Exact
		of.counted.window(t, holds, sizes, known, shortages{func(s shortage) {
			if !e.Sweeps {
				return
			}
			of.violations++
			since := max(s.granted.Call, of.counted.since)
			j.v.ViolateFrom(s.granted.From, func() verdict.Witness { return tooMany(t, s, sizes, since, of.counted.changed < facts.Forever) })
		}, j.v.Shows, t})
		of.bare.window(t, holds, of.bare.sizes(changes), known, shortages{func(shortage) {
			if e.Sweeps {
				j.raw++
			}
		}, func(time.Duration) bool { return false }, t})
		if e.Searches {
			of.search.window(&e.Caps, t, holds, changes, known)
		}
		kept += of.kept()
	}
	return kept
}

// kept returns the number of things that the next window visits again.
func (of *permitsOf) kept() int {
	return len(of.counted.holds) + len(of.counted.held) + len(of.counted.changes) + len(of.bare.holds) + len(of.bare.held) + len(of.bare.changes) +
		len(of.search.holds) + len(of.search.changes) + len(of.order.grants) + len(of.order.known) + len(of.order.unknown)
}

func (j *permitsJudge) Conclude(e *judge.Engines, t *facts.Trace) {
	v := j.v
	overlap, unknown := 0, ""
	for lock := range t.LocksThat(histories.Recipe.HasPermits) {
		of := j.locks.Of(lock)
		if of == nil {
			unknown = fmt.Sprintf("the history does not say how many permits %q has", lock.Lock)
			continue
		}
		if of.overlap {
			overlap++
		}
		a := of.search.Answer
		switch {
		case !e.Searches:
			if of.overlap {
				v.LeaveUndecided(fmt.Sprintf("the order in which the changes of the size of %q took effect is not known, and only Porcupine can try all orders", lock.Lock))
			}
		case a.Illegal && of.violations == 0 && of.overlap:
			v.Violate(func() verdict.Witness { return noOrder(t, lock.Lock, facts.Span{From: a.From, To: a.To}) })
		default:
			e.Compare(t, v, lock.Lock, of.violations > 0, a)
		}
	}
	v.Count("grants", j.grants)
	v.Count("changes of a size", j.changes)
	v.Count("grants without room", v.Violations)
	v.Count("grants without room excused by a forced expiry or a pause", max(j.raw-v.Violations, 0))
	v.Count("semaphores whose changes overlap", overlap)
	violated := "permits were granted that there were not, "
	if e.Sweeps && j.writes.judge(t, v) {
		violated = "permits were granted that there were not, or a change of a size was carried out twice or not at all, "
	}
	switch {
	case v.Outcome == verdict.Unknown: // the engines disagree
	case unknown != "" && v.Violations == 0:
		v.Outcome, v.Reason = verdict.Unknown, unknown
	case j.grants == 0 && v.Violations == 0:
		v.Idle("no client ever held a permit")
	default:
		why := fmt.Sprintf("%s, never without room for them", words.Count(j.grants, "grant"))
		if j.changes > 0 {
			why += ", with " + words.Count(j.changes, "change") + " of a size"
		}
		v.Conclude(why, violated+words.Times(v.Violations))
	}
}

// PermitPieces returns the parts of the holds that count. After the first change of the size, a
// part that follows an excuse is left out: it was not granted there, so the size that it has to
// fit is not known.
func PermitPieces(holds []*facts.Hold, sizes *Sizes) []facts.Piece {
	seen := map[*facts.Hold]bool{}
	return slices.DeleteFunc(facts.PiecesOf(holds), func(p facts.Piece) bool {
		defer func() { seen[p.Hold] = true }()
		return seen[p.Hold] && p.From >= sizes.changed
	})
}

// permitSweep is the interval engine of one semaphore, working in the windows of the history.
type permitSweep struct {
	placing
	pieces  func([]*facts.Hold, *Sizes) []facts.Piece
	holds   []*facts.Hold // not over, or with a part after the decided instant
	changes []SizeChange  // that can have been in force after it
	changed time.Duration // when the size was first changed
}

func newPermitSweep(first SizeChange, pieces func([]*facts.Hold, *Sizes) []facts.Piece) permitSweep {
	return permitSweep{placing: newPlacing(), pieces: pieces, changes: []SizeChange{first}, changed: facts.Forever}
}

// sizes adds changes of the size and returns the sizes of the semaphore.
func (w *permitSweep) sizes(changes []SizeChange) *Sizes {
	w.changes = append(w.changes, changes...)
	all := newSizes(slices.Clone(w.changes))
	for _, c := range changes {
		w.changed = min(w.changed, c.Call)
	}
	all.changed = w.changed
	return all
}

// window takes in the holds of a window, and finds the places of those that can be decided by
// now.
func (w *permitSweep) window(t *facts.Trace, holds []*facts.Hold, sizes *Sizes, known horizon, report shortages) {
	for _, h := range holds {
		if t.Begun(h) {
			w.holds = append(w.holds, h)
		}
	}
	pieces := w.pieces(w.holds, sizes)
	until := facts.Forever
	if !t.Last {
		for _, h := range w.holds {
			if !t.Over(h) && len(h.Pieces()) == 0 { // the excuse continues
				known.asked = min(known.asked, h.Call)
			}
		}
		until = w.decided(known.until, known.asked, pieces, sizes)
	}
	w.settle(until, pieces, sizes, report)
	w.holds = slices.DeleteFunc(w.holds, func(h *facts.Hold) bool { return t.Over(h) && h.End <= until })
	w.changes = slices.DeleteFunc(slices.Clone(sizes.All), func(c SizeChange) bool { return c.Until < until })
}

// tooMany returns the witness of a grant without room. The grant was asked for at since or
// before, and the size did not drop in between.
func tooMany(t *facts.Trace, s shortage, sizes *Sizes, since time.Duration, changes bool) verdict.Witness {
	s.granted = s.granted.Now(facts.PiecesOf([]*facts.Hold{s.granted.Hold}))
	h := s.granted.Hold
	q := judge.HoldParty(h)
	until, sum := s.granted.To, h.Permits
	var held []string
	var parties []verdict.Party
	for _, p := range s.held {
		p = p.Now(facts.PiecesOf([]*facts.Hold{p.Hold}))
		held = append(held, fmt.Sprintf("%v held %d", judge.HoldParty(p.Hold), p.Hold.Permits))
		parties = append(parties, judge.HoldParty(p.Hold))
		sum += p.Hold.Permits
		until = min(until, p.To)
	}
	w := judge.NewWitness(t, h.Lock, s.granted.From, until, append(parties, q)...)
	w.What = fmt.Sprintf("%v was granted %s of semaphore %q at %s", q, words.Count(h.Permits, "permit"), w.Lock, verdict.At(s.granted.From))
	if len(held) > 0 {
		w.What += " while " + strings.Join(held, ", ")
	}
	most := sizes.mostIn(since, s.granted.From)
	switch {
	case !changes:
		w.What += fmt.Sprintf(": %d, and there are %d", sum, most)
	case sum > most:
		w.What += fmt.Sprintf(": %d, and there had been %d at most since it asked at %s", sum, most, verdict.At(s.granted.Call))
	default:
		w.What += fmt.Sprintf(": %d, for which there had been no room at any time since it asked at %s", sum, verdict.At(s.granted.Call))
	}
	for _, end := range w.SessionEnds {
		if slices.ContainsFunc(parties, func(p verdict.Party) bool { return p.Process == end.Process && p.Session == end.Session }) {
			w.What += "; " + end.String()
		}
	}
	return w
}

// noOrder returns the witness of grants that no order of the changes of the size allows.
func noOrder(t *facts.Trace, lock string, when facts.Span) verdict.Witness {
	w := judge.NewWitness(t, lock, when.From, min(when.To, t.End))
	w.What = fmt.Sprintf("in whatever order the changes of the size of semaphore %q took effect, one of the grants between %s and %s found no room", lock, verdict.At(w.From), verdict.At(w.To))
	return w
}
