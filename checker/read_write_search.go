package checker

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// readWriteSearch searches the holds of one read/write lock as windows of the
// history show them, as mutexSearch does. It keeps the holds of the segment that
// is not yet complete.
type readWriteSearch struct {
	answer answer
	holds  []*hold // not over, or with a part after the last cut
	time   int64   // of the last cut
	held   []piece // there
}

func newReadWriteSearch() readWriteSearch {
	return readWriteSearch{answer: answer{result: porcupine.Ok}, time: -1}
}

// window takes in the holds of a window of which nothing is known after t.end.
func (r *readWriteSearch) window(s *search, t *trace, holds []*hold) {
	if r.answer.result == porcupine.Illegal {
		r.holds, r.held = nil, nil
		return
	}
	for _, h := range holds {
		if h.start > t.before {
			r.holds = append(r.holds, h)
		}
	}
	for _, h := range r.holds {
		h.excuses = t.excuses(h)
	}
	pieces := piecesOf(r.holds)
	begin := holdingsCut{time: r.time}
	for i, p := range pieces {
		if slices.ContainsFunc(r.held, func(q piece) bool { return p.hold == q.hold && p.from == q.from }) {
			begin.state.held = append(begin.state.held, i)
		}
	}
	until := t.end
	if t.last {
		until = forever
	}
	segments := cutHoldings(pieces, nil, s.size, begin, until)
	if last := len(segments) - 1; !t.last {
		// The last one goes on.
		r.time, r.held = segments[last].time, nil
		for _, i := range segments[last].state.held {
			r.held = append(r.held, pieces[i])
		}
		segments = segments[:last]
	}
	r.answer.add(s.holdings(segments, besideReaders(pieces)))
	r.holds = slices.DeleteFunc(r.holds, func(h *hold) bool { return t.over(h) && twice(int64(h.end)) < r.time })
}
