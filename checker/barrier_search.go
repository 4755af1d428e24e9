package checker

import (
	"slices"
	"time"
)

// barrierSearch searches one barrier as windows of the history show it. It keeps
// the operations of the segment that is not yet complete, and gives it up when it
// has become too large to be searched: after a remove that is never answered no cut
// comes.
type barrierSearch struct {
	segmentSearch[barrierState, barrierStep]
	state barrierState // at the last cut
	ops   crossing     // since then
}

// window takes in what came to its end in a window. The oldest operation that is
// still open was invoked at open.
func (b *barrierSearch) window(s *searchCaps, t *trace, ops []*op, open time.Duration) {
	if b.done() {
		b.ops = crossing{}
		return
	}
	for _, o := range ops {
		b.ops.add(o)
	}
	segments := cutBarrier(b.ops.operations(), s.size, b.state, twice(int64(open)))
	if open := segments[len(segments)-1]; !t.last && len(open.ops) > 0 {
		b.state = open.cut
		b.ops.from(open.ops[0].call)
		b.giveUpOn(s, open)
	}
	b.segmentSearch.window(segments, t.last, searchBarrier(s))
}

// from drops what was invoked before an instant of the search's clock.
func (x *crossing) from(call int64) {
	for _, ops := range []*[]*op{&x.sets, &x.removes, &x.waits} {
		*ops = slices.DeleteFunc(*ops, func(o *op) bool { return twice(int64(o.call)) < call })
	}
}

// searchBarrier returns what searches a segment of a barrier.
func searchBarrier(s *searchCaps) func(barrierSegment) answer {
	return func(seg barrierSegment) answer { return searchOf(s, barrierModel(seg.cut), seg.ops) }
}
