package checker

import (
	"slices"
	"sort"
	"time"
)

// holdingsSegment is a segment of the history of a lock that one or several may
// hold.
type holdingsSegment = segment[holdingsCut, holdingsStep]

// holdingsCut is a cut, and what is held there.
type holdingsCut struct {
	time  int64 // on the clock of the search
	state holdings
}

// beginning is where a history begins.
func beginning(sizes *sizes) holdingsCut {
	c := holdingsCut{time: -1}
	if sizes != nil {
		c.state.size = sizes.all[0].size
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
func cutHoldings(pieces []piece, sizes *sizes, size int, begin holdingsCut, until, first time.Duration) []holdingsSegment {
	// asked[i] is when the first of the pieces from i on was asked for.
	asked := make([]time.Duration, len(pieces)+1)
	asked[len(pieces)] = first
	for i, p := range slices.Backward(pieces) {
		asked[i] = min(asked[i+1], p.call)
	}
	segments := []holdingsSegment{{cut: begin}}
	var open []int
	last := 0
	for i, p := range pieces {
		open = slices.DeleteFunc(open, func(j int) bool { return pieces[j].to <= p.from })
		if p.to > p.from {
			open = append(open, i)
		}
		at := twice(int64(p.from)) + 1
		if 2*(i+1-last) < size || i+1 < len(pieces) && pieces[i+1].from == p.from || p.from > until || at <= begin.time {
			continue
		}
		next := holdingsCut{time: at, state: holdings{held: slices.Sorted(slices.Values(open))}}
		if sizes != nil {
			now, since, ok := sizes.settled(p.from)
			if !ok || asked[i+1] <= since {
				continue
			}
			next.state.size = now
		}
		segments, last = append(segments, holdingsSegment{cut: next}), i+1
	}
	// after returns the segment in which instant t lies; -1 if it was cut off.
	// No instant of the history is a cut: cuts are odd.
	after := func(t int64) int {
		return sort.Search(len(segments), func(i int) bool { return segments[i].cut.time > t }) - 1
	}
	add := func(i int, in holdingsStep, call, ret int64) {
		if i < 0 {
			return
		}
		s := &segments[i]
		call = max(call, s.cut.time)
		if i+1 < len(segments) {
			ret = min(ret, segments[i+1].cut.time)
		}
		s.ops = append(s.ops, operation[holdingsStep]{in, call, ret})
	}
	for i, p := range pieces {
		ret := twice(int64(p.from))
		add(after(ret), holdingsStep{kind: take, piece: i}, twice(int64(p.call)), ret)
		if p.to != forever {
			call := twice(int64(p.to))
			add(after(call), holdingsStep{kind: give, piece: i}, call, max(call, twice(int64(p.free))))
		}
	}
	if sizes != nil {
		for _, c := range sizes.all[1:] {
			call := twice(int64(c.call))
			add(after(call), holdingsStep{kind: resize, size: c.size}, call, twice(int64(c.ret)))
		}
	}
	return segments
}
