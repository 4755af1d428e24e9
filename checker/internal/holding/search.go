package holding

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
)

// holdingsSearch searches the holds of one lock, which one or several processes may hold, in
// the windows of the history. It keeps the holds of the segment that is not complete yet and,
// for a semaphore, the changes of its size.
//
// Where no cut is possible, as after a change of the size that was never answered, that segment
// grows. The search gives up when the segment has become too large.
type holdingsSearch struct {
	judge.SegmentSearch[holdingsCut, HoldingsStep]
	admits  func(pieces []facts.Piece) func(Holdings, int) bool // nil: one piece may hold the lock
	holds   []*facts.Hold                                       // not over, or with a part after the last cut
	changes []SizeChange
	cut     holdingsCut // the last one; the pieces held there are in held
	held    []facts.Piece
	changed time.Duration // when the size first changed
	started bool          // it has taken in a window
	ended   bool          // the last window left no open segment: see whole
}

// newHoldingsSearch returns the search of a lock. admits decides which pieces may hold it
// together; nil means that only one may. The size is 0 unless the lock is a semaphore.
func newHoldingsSearch(admits func([]facts.Piece) func(Holdings, int) bool, size int) *holdingsSearch {
	return &holdingsSearch{admits: admits, cut: holdingsCut{time: -1, state: Holdings{Size: size}}, changed: facts.Forever}
}

// answer returns the answer of the search, the zero Answer if there was none.
func (q *holdingsSearch) answer() judge.Answer {
	if q == nil {
		return judge.Answer{}
	}
	return q.Answer
}

// horizon bounds the part of a history that is known.
type horizon struct {
	until time.Duration // every operation called by then is either answered or never will be
	asked time.Duration // the earliest call of the acquires that have not returned
}

// allKnown returns the horizon of a lock whose size does not change.
func allKnown(t *facts.Trace) horizon {
	if t.Last {
		return horizon{facts.Forever, facts.Forever}
	}
	return horizon{t.End, facts.Forever}
}

// window takes in the holds of a window, and the changes of the size that were settled in it. A
// read/write lock has no changes.
func (r *holdingsSearch) window(s *judge.Caps, t *facts.Trace, holds []*facts.Hold, changes []SizeChange, known horizon) {
	if r.Done() {
		r.holds, r.held, r.changes = nil, nil, nil
		return
	}
	for _, h := range holds {
		if !r.started || t.Begun(h) {
			r.holds = append(r.holds, h)
		}
	}
	r.started, r.ended = true, t.Last || r.whole(t)
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
	if !r.ended {
		open := segments[len(segments)-1]
		r.begin(open.Cut, pieces)
		r.GiveUpOn(s, open)
	}
	r.SegmentSearch.Window(segments, r.ended, searchHoldings(s, r.admitsAmong(pieces)))
	r.holds = slices.DeleteFunc(r.holds, func(h *facts.Hold) bool { return t.Over(h) && judge.Clock(int64(h.End)) < r.cut.time })
}

// whole reports whether the history of a lock with one holder can be cut at the end of this
// window, so that all of it is searched now: at most one hold goes on, and a search of the next
// windows may begin with it. An excuse that becomes known later could separate two holds that
// go on, so that they are kept for one search.
func (r *holdingsSearch) whole(t *facts.Trace) bool {
	if r.admits != nil {
		return false
	}
	open := 0
	for _, h := range r.holds {
		if !t.Over(h) {
			open++
		}
	}
	return open <= 1
}

func (r *holdingsSearch) admitsAmong(pieces []facts.Piece) func(Holdings, int) bool {
	if r.admits == nil {
		return nil
	}
	return r.admits(pieces)
}

// searchHoldings returns a function that searches a segment of a lock. admits decides which
// pieces may hold the lock together; nil means that only one may.
func searchHoldings(s *judge.Caps, admits func(Holdings, int) bool) func(holdingsSegment) judge.Answer {
	return func(seg holdingsSegment) judge.Answer {
		if admits == nil {
			return judge.Search(s, MutexModel(seg.Cut.state.Held), seg.Ops)
		}
		return judge.Search(s, HoldingsModel(seg.Cut.state, admits), seg.Ops)
	}
}

// sizes returns the sizes since the last cut. A piece that was asked for after the cut was
// asked for after the changes before it.
func (r *holdingsSearch) sizes() *Sizes {
	all := newSizes(append([]SizeChange{{Size: r.cut.state.Size, event: -1, Call: -1, Ret: -1}}, r.changes...))
	r.changed = min(r.changed, all.changed)
	all.changed = r.changed
	return all
}

// begin continues the search from a cut.
func (r *holdingsSearch) begin(cut holdingsCut, pieces []facts.Piece) {
	r.cut, r.held = cut, nil
	for _, i := range cut.state.Held {
		r.held = append(r.held, pieces[i])
	}
	r.changes = slices.DeleteFunc(r.changes, func(c SizeChange) bool { return judge.Clock(int64(c.Call)) < cut.time })
}
