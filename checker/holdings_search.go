package checker

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// holdingsSearch searches the holds of one lock that several may hold as windows
// of the history show them, as mutexSearch does. It keeps the holds of the segment
// that is not yet complete and, of a semaphore, the changes of its size.
//
// Where no cut comes, as after a change of the size that was never answered, that
// segment grows. It is given up when it has become too large to be searched.
type holdingsSearch struct {
	answer  answer
	holds   []*hold // not over, or with a part after the last cut
	changes []sizeChange
	cut     holdingsCut // the last one; what is held there is in held
	held    []piece
	changed time.Duration // when the size was first changed
	gaveUp  bool
}

func newHoldingsSearch(size int) holdingsSearch {
	return holdingsSearch{answer: answer{result: porcupine.Ok}, cut: holdingsCut{time: -1, state: holdings{size: size}}, changed: forever}
}

// horizon says how much of a history is known.
type horizon struct {
	until time.Duration // what was called by then is either answered or never will be
	asked time.Duration // of the acquires that have not returned, the first was invoked then
}

// window takes in the holds of a window, and the changes of the size that have
// been settled in it. A read/write lock has none.
func (r *holdingsSearch) window(s *search, t *trace, holds []*hold, changes []sizeChange, known horizon) {
	if r.gaveUp || r.answer.result == porcupine.Illegal {
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
	admits := besideReaders
	if r.cut.state.size > 0 {
		r.changes = append(r.changes, changes...)
		sizes = r.sizes()
		pieces = permitPieces(r.holds, sizes)
		admits = besidePermits
	}
	begin := r.cut
	begin.state.held = nil
	for i, p := range pieces {
		if slices.ContainsFunc(r.held, func(q piece) bool { return p.hold == q.hold && p.from == q.from }) {
			begin.state.held = append(begin.state.held, i)
		}
	}
	segments := cutHoldings(pieces, sizes, s.size, begin, known.until, known.asked)
	if last := len(segments) - 1; !t.last {
		// The last one goes on.
		r.begin(segments[last].holdingsCut, pieces)
		if n := int64(len(segments[last].ops)); n*n/8 > s.memory {
			r.answer.add(tooLong(n))
			r.gaveUp = true
		}
		segments = segments[:last]
	}
	r.answer.add(s.holdings(segments, admits(pieces)))
	r.holds = slices.DeleteFunc(r.holds, func(h *hold) bool { return t.over(h) && twice(int64(h.end)) < r.cut.time })
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
