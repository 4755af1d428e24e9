package holding

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/search"
)

// holdingsSearch searches the holds of one lock, which one or several may hold, as
// windows of the history show them. It keeps the holds of the segment that is not yet
// complete and, of a semaphore, the changes of its size.
//
// Where no cut comes, as after a change of the size that was never answered, that
// segment grows. It is given up when it has become too large to be searched.
type holdingsSearch struct {
	search.SegmentSearch[holdingsCut, HoldingsStep]
	admits  func(pieces []facts.Piece) func(Holdings, int) bool // nil: of a lock that one piece may hold
	holds   []*facts.Hold                                       // not over, or with a part after the last cut
	changes []SizeChange
	cut     holdingsCut // the last one; what is held there is in held
	held    []facts.Piece
	changed time.Duration // when the size was first changed
}

// newHoldingsSearch returns the search of a lock that admits pieces beside each other
// as said: nil means none. Its size is 0 unless it is a semaphore.
func newHoldingsSearch(admits func([]facts.Piece) func(Holdings, int) bool, size int) *holdingsSearch {
	return &holdingsSearch{admits: admits, cut: holdingsCut{time: -1, state: Holdings{Size: size}}, changed: facts.Forever}
}

// answer is what the search has found, nothing if there was none.
func (q *holdingsSearch) answer() search.Answer {
	if q == nil {
		return search.Answer{}
	}
	return q.Answer
}

// horizon says how much of a history is known.
type horizon struct {
	until time.Duration // what was called by then is either answered or never will be
	asked time.Duration // of the acquires that have not returned, the first was invoked then
}

// allKnown is the horizon of a lock whose size does not change.
func allKnown(t *facts.Trace) horizon {
	if t.Last {
		return horizon{facts.Forever, facts.Forever}
	}
	return horizon{t.End, facts.Forever}
}

// window takes in the holds of a window, and the changes of the size that have
// been settled in it. A read/write lock has none.
func (r *holdingsSearch) window(s *search.Caps, t *facts.Trace, holds []*facts.Hold, changes []SizeChange, known horizon) {
	if r.Done() {
		r.holds, r.held, r.changes = nil, nil, nil
		return
	}
	for _, h := range holds {
		if t.Begun(h) {
			r.holds = append(r.holds, h)
		}
	}
	for _, h := range r.holds {
		h.Excuses = t.Faults.Excuses(h)
	}
	var sizes *Sizes
	pieces := facts.PiecesOf(r.holds)
	if r.cut.state.Size > 0 {
		r.changes = append(r.changes, changes...)
		sizes = r.sizes()
		pieces = PermitPieces(r.holds, sizes)
	}
	begin := r.cut
	begin.state.Held = nil
	for i, p := range pieces {
		if slices.ContainsFunc(r.held, func(q facts.Piece) bool { return p.Hold == q.Hold && p.From == q.From }) {
			begin.state.Held = append(begin.state.Held, i)
		}
	}
	segments := cutHoldings(pieces, sizes, s.Size, begin, known.until, known.asked)
	if !t.Last {
		open := segments[len(segments)-1]
		r.begin(open.Cut, pieces)
		r.GiveUpOn(s, open)
	}
	r.SegmentSearch.Window(segments, t.Last, searchHoldings(s, r.admitsAmong(pieces)))
	r.holds = slices.DeleteFunc(r.holds, func(h *facts.Hold) bool { return t.Over(h) && search.Clock(int64(h.End)) < r.cut.time })
}

func (r *holdingsSearch) admitsAmong(pieces []facts.Piece) func(Holdings, int) bool {
	if r.admits == nil {
		return nil
	}
	return r.admits(pieces)
}

// searchHoldings returns what searches a segment of a lock that admits pieces beside
// each other as said: nil means none.
func searchHoldings(s *search.Caps, admits func(Holdings, int) bool) func(holdingsSegment) search.Answer {
	return func(seg holdingsSegment) search.Answer {
		if admits == nil {
			return search.Run(s, MutexModel(seg.Cut.state.Held), seg.Ops)
		}
		return search.Run(s, HoldingsModel(seg.Cut.state, admits), seg.Ops)
	}
}

// sizes returns what is known of the size since the last cut. What was asked for
// after it was asked for after the changes before it.
func (r *holdingsSearch) sizes() *Sizes {
	all := newSizes(append([]SizeChange{{Size: r.cut.state.Size, event: -1, Call: -1, Ret: -1}}, r.changes...))
	r.changed = min(r.changed, all.changed)
	all.changed = r.changed
	return all
}

// begin goes on from a cut.
func (r *holdingsSearch) begin(cut holdingsCut, pieces []facts.Piece) {
	r.cut, r.held = cut, nil
	for _, i := range cut.state.Held {
		r.held = append(r.held, pieces[i])
	}
	r.changes = slices.DeleteFunc(r.changes, func(c SizeChange) bool { return search.Clock(int64(c.Call)) < cut.time })
}
