package barrier

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
)

// barrierSearch searches one barrier in the windows of the history. It keeps the operations of
// the segment that is not complete yet. It gives up when that segment has become too large: no
// cut is possible after a remove that is never answered.
type barrierSearch struct {
	judge.SegmentSearch[BarrierState, barrierStep]
	state BarrierState // at the last cut
	ops   Crossing     // since then
}

// window takes in the operations that ended in a window. The oldest operation that is still
// open was invoked at open.
func (b *barrierSearch) window(s *judge.Caps, t *facts.Trace, ops []*facts.Op, open time.Duration) {
	if b.Done() {
		b.ops = Crossing{}
		return
	}
	for _, o := range ops {
		b.ops.Add(o)
	}
	segments := cutBarrier(b.ops.operations(), s.Size, b.state, judge.Clock(int64(open)))
	if open := segments[len(segments)-1]; !t.Last && len(open.Ops) > 0 {
		b.state = open.Cut
		b.ops.from(open.Ops[0].Call)
		b.GiveUpOn(s, open)
	}
	b.SegmentSearch.Window(segments, t.Last, searchBarrier(s))
}

// from drops the operations that were invoked before an instant of the search's clock.
func (x *Crossing) from(call int64) {
	for _, ops := range []*[]*facts.Op{&x.Sets, &x.Removes, &x.Waits} {
		*ops = slices.DeleteFunc(*ops, func(o *facts.Op) bool { return judge.Clock(int64(o.Call)) < call })
	}
}

// searchBarrier returns a function that searches a segment of a barrier.
func searchBarrier(s *judge.Caps) func(barrierSegment) judge.Answer {
	return func(seg barrierSegment) judge.Answer { return judge.Search(s, BarrierModel(seg.Cut), seg.Ops) }
}
