package holding

import (
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/search"
)

// holdingsSegment is a segment of the history of a lock that one or several may
// hold.
type holdingsSegment = search.Segment[holdingsCut, HoldingsStep]

// holdingsCut is a cut, and what is held there.
type holdingsCut struct {
	time  int64 // on the clock of the search
	state Holdings
}

// beginning is where a history begins.
func beginning(sizes *Sizes) holdingsCut {
	c := holdingsCut{time: -1}
	if sizes != nil {
		c.state.Size = sizes.All[0].Size
	}
	return c
}

// cutHoldings turns the pieces of one lock, sorted by start, into segments of
// about size operations: a take in [call, from] and a give in [to, free] for
// each piece, and the changes of the size if it is a semaphore (sizes is nil for
// a read/write lock). The whole is linearizable exactly when every segment is.
//
// A cut is made at an instant t between events at which
//
//  1. no change of the size is open, and those before t leave one size that can
//     be in force;
//  2. no take that is open across t was called before the last change of the
//     size returned.
//
// Cutting there means: operations that returned before t belong to the left
// segment; takes open across t start again at t in the right one; gives called
// before t that are not answered by then are answered at t; the right segment
// starts with the definite holds at t, those with from < t < to, and that size.
//
// If the whole has a linearization L, then so has each side. First, every give
// called before t can take effect before t: that leaves less held, and whatever
// was admitted still is. Second, every take X that is open across t can take
// effect after t. Put those that take effect before t in L off until just after
// it, in the order of L. Their own gives are called after they returned, so after
// t. Between their old places and t the size does not change, by 2, so that what
// is admitted there depends on what is held alone: takes in between find less,
// and gives make room. After t each finds at most what was held in L when t came,
// all of which L admitted together (for permits, the sum was at most the size,
// when the last one took), less some. Now what takes effect before t is what
// returned before t, and the gives called before t, so that exactly the definite
// holds are held at t, and the size is the one of 1. So restricting L to what is
// before t, and after it, respects the intervals of both sides.
//
// If both sides have linearizations, the left one ends in the state that the
// right one starts with: it has all takes that returned before t, all gives
// called before t, and all changes of the size, of which only one can be last.
// Every interval was only made narrower by the cut, so the joined order respects
// the intervals of the whole.
//
// What comes before begin has been cut off already, with the same proof, and is
// left out. Nothing is cut after until: what the pieces say of later instants
// need not be known yet. Of takes that are not among the pieces because they have
// not returned, the first was asked for at first.
func cutHoldings(pieces []facts.Piece, sizes *Sizes, size int, begin holdingsCut, until, first time.Duration) []holdingsSegment {
	segments := holdingsCuts(pieces, sizes, size, begin, until, first)
	// after returns the segment in which instant t lies; -1 if it was cut off.
	// No instant of the history is a cut: cuts are odd.
	after := func(t int64) int {
		return sort.Search(len(segments), func(i int) bool { return segments[i].Cut.time > t }) - 1
	}
	add := func(i int, in HoldingsStep, call, ret int64) {
		if i < 0 {
			return
		}
		s := &segments[i]
		call = max(call, s.Cut.time)
		if i+1 < len(segments) {
			ret = min(ret, segments[i+1].Cut.time)
		}
		s.Ops = append(s.Ops, search.Operation[HoldingsStep]{Input: in, Call: call, Ret: ret})
	}
	for i, p := range pieces {
		ret := search.Clock(int64(p.From))
		add(after(ret), HoldingsStep{Kind: Take, Piece: i}, search.Clock(int64(p.Call)), ret)
		if p.To != facts.Forever {
			call := search.Clock(int64(p.To))
			add(after(call), HoldingsStep{Kind: Give, Piece: i}, call, max(call, search.Clock(int64(p.Free))))
		}
	}
	if sizes != nil {
		for _, c := range sizes.All[1:] {
			call := search.Clock(int64(c.Call))
			add(after(call), HoldingsStep{Kind: Resize, Size: c.Size}, call, search.Clock(int64(c.Ret)))
		}
	}
	return segments
}

// holdingsCuts returns the segments into which pieces are cut, without their
// operations.
func holdingsCuts(pieces []facts.Piece, sizes *Sizes, size int, begin holdingsCut, until, first time.Duration) []holdingsSegment {
	// asked[i] is when the first of the pieces from i on was asked for.
	asked := make([]time.Duration, len(pieces)+1)
	asked[len(pieces)] = first
	for i, p := range slices.Backward(pieces) {
		asked[i] = min(asked[i+1], p.Call)
	}
	segments := []holdingsSegment{{Cut: begin}}
	var open []int
	last := 0
	for i, p := range pieces {
		open = slices.DeleteFunc(open, func(j int) bool { return pieces[j].To <= p.From })
		if p.To > p.From {
			open = append(open, i)
		}
		at := search.Clock(int64(p.From)) + 1
		if 2*(i+1-last) < size || i+1 < len(pieces) && pieces[i+1].From == p.From || p.From > until || at <= begin.time {
			continue
		}
		next := holdingsCut{time: at, state: Holdings{Held: slices.Sorted(slices.Values(open))}}
		if sizes != nil {
			now, since, ok := sizes.settled(p.From)
			if !ok || asked[i+1] <= since {
				continue
			}
			next.state.Size = now
		}
		segments, last = append(segments, holdingsSegment{Cut: next}), i+1
	}
	return segments
}
