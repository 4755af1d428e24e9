package checker

import (
	"slices"
	"time"
)

// holdingsSearch searches the holds of one lock, which one or several may hold, as
// windows of the history show them. It keeps the holds of the segment that is not yet
// complete and, of a semaphore, the changes of its size.
//
// Where no cut comes, as after a change of the size that was never answered, that
// segment grows. It is given up when it has become too large to be searched.
type holdingsSearch struct {
	segmentSearch[holdingsCut, holdingsStep]
	admits  func(pieces []piece) func(holdings, int) bool // nil: of a lock that one piece may hold
	holds   []*hold                                       // not over, or with a part after the last cut
	changes []sizeChange
	cut     holdingsCut // the last one; what is held there is in held
	held    []piece
	changed time.Duration // when the size was first changed
}

// newHoldingsSearch returns the search of a lock that admits pieces beside each other
// as said: nil means none. Its size is 0 unless it is a semaphore.
func newHoldingsSearch(admits func([]piece) func(holdings, int) bool, size int) holdingsSearch {
	return holdingsSearch{admits: admits, cut: holdingsCut{time: -1, state: holdings{size: size}}, changed: forever}
}

// horizon says how much of a history is known.
type horizon struct {
	until time.Duration // what was called by then is either answered or never will be
	asked time.Duration // of the acquires that have not returned, the first was invoked then
}

// allKnown is the horizon of a lock whose size does not change.
func allKnown(t *trace) horizon {
	if t.last {
		return horizon{forever, forever}
	}
	return horizon{t.end, forever}
}

// window takes in the holds of a window, and the changes of the size that have
// been settled in it. A read/write lock has none.
func (r *holdingsSearch) window(s *searchCaps, t *trace, holds []*hold, changes []sizeChange, known horizon) {
	if r.done() {
		r.holds, r.held, r.changes = nil, nil, nil
		return
	}
	for _, h := range holds {
		if t.begun(h) {
			r.holds = append(r.holds, h)
		}
	}
	for _, h := range r.holds {
		h.excuses = t.faults.excuses(h)
	}
	var sizes *sizes
	pieces := piecesOf(r.holds)
	if r.cut.state.size > 0 {
		r.changes = append(r.changes, changes...)
		sizes = r.sizes()
		pieces = permitPieces(r.holds, sizes)
	}
	begin := r.cut
	begin.state.held = nil
	for i, p := range pieces {
		if slices.ContainsFunc(r.held, func(q piece) bool { return p.hold == q.hold && p.from == q.from }) {
			begin.state.held = append(begin.state.held, i)
		}
	}
	segments := cutHoldings(pieces, sizes, s.size, begin, known.until, known.asked)
	if !t.last {
		open := segments[len(segments)-1]
		r.begin(open.cut, pieces)
		r.giveUpOn(s, open)
	}
	r.segmentSearch.window(segments, t.last, searchHoldings(s, r.admitsAmong(pieces)))
	r.holds = slices.DeleteFunc(r.holds, func(h *hold) bool { return t.over(h) && twice(int64(h.end)) < r.cut.time })
}

func (r *holdingsSearch) admitsAmong(pieces []piece) func(holdings, int) bool {
	if r.admits == nil {
		return nil
	}
	return r.admits(pieces)
}

// searchHoldings returns what searches a segment of a lock that admits pieces beside
// each other as said: nil means none.
func searchHoldings(s *searchCaps, admits func(holdings, int) bool) func(holdingsSegment) answer {
	return func(seg holdingsSegment) answer {
		if admits == nil {
			return searchOf(s, mutexModel(seg.cut.state.held), seg.ops)
		}
		return searchOf(s, holdingsModel(seg.cut.state, admits), seg.ops)
	}
}

// sizes returns what is known of the size since the last cut. What was asked for
// after it was asked for after the changes before it.
func (r *holdingsSearch) sizes() *sizes {
	all := newSizes(append([]sizeChange{{size: r.cut.state.size, event: -1, call: -1, ret: -1}}, r.changes...))
	r.changed = min(r.changed, all.changed)
	all.changed = r.changed
	return all
}

// begin goes on from a cut.
func (r *holdingsSearch) begin(cut holdingsCut, pieces []piece) {
	r.cut, r.held = cut, nil
	for _, i := range cut.state.held {
		r.held = append(r.held, pieces[i])
	}
	r.changes = slices.DeleteFunc(r.changes, func(c sizeChange) bool { return twice(int64(c.call)) < cut.time })
}
