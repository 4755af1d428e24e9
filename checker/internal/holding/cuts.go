package holding

import (
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
)

// holdingsSegment is a segment of the history of a lock that one or several processes may hold.
type holdingsSegment = judge.Segment[holdingsCut, HoldingsStep]

// holdingsCut is a cut, with the state of the lock there.
type holdingsCut struct {
	time  int64 // on the clock of the search
	state Holdings
}

// cutHoldings cuts the pieces of one lock, sorted by start, into segments of about size
// operations. A piece is two operations: a take in [Call, From] and a give in [To, Free]. The
// changes of the size are operations too if the lock is a semaphore (sizes is nil for a
// read/write lock). The whole is linearizable exactly when every segment is.
//
// A cut is made at an instant t between events at which
//
//  1. no change of the size is open, and those before t leave one size that can
//     be in force;
//  2. no take that is open across t was called before the last change of the
//     size returned.
//
// Cutting there means: operations that returned before t belong to the left segment; takes open
// across t start again at t in the right one; gives that were called before t and not answered
// before t are answered at t. The right segment starts with the definite holds at t, those with
// From < t < To, and with the size of condition 1.
//
// Suppose the whole has a linearization L. Then each side has one, too. First, every give
// called before t can take effect before t: less is then held, and every take that was admitted
// still is. Second, every take X that is open across t can take effect after t. Move such takes
// that take effect before t in L to just after t, in the order of L. The gives of their pieces
// are called after the takes returned, so after t. Between the old places of these takes and t
// the size does not change, by condition 2, so the admission of takes there depends only on the
// holds. The takes in between find less held, and gives make room. After t, each moved take
// finds at most the holds of L at t, less some of them, and L admitted all of those together
// (for permits, their sum was at most the size when the last of them took). Now the operations
// that take effect before t are those that returned before t and the gives called before t. So
// exactly the definite holds are held at t, and the size is that of condition 1. The
// restrictions of L to before t and to after t therefore respect the intervals of both sides.
//
// If both sides have linearizations, the left one ends in the state that the right one starts
// with: it has all takes that returned before t, all gives called before t, and all changes of
// the size, of which only one can be last. The cut made every interval only narrower, so the
// joined order respects the intervals of the whole.
//
// The history before begin has been cut off already, with the same proof, and is left out. No
// cut is made after until, since the ends of pieces after it need not be known yet. The first
// call of a take that has not returned, and so has no piece, was at first.
func cutHoldings(pieces []facts.Piece, sizes *Sizes, size int, begin holdingsCut, until, first time.Duration) []holdingsSegment {
	segments := holdingsCuts(pieces, sizes, size, begin, until, first)
	// after returns the segment that contains instant t; -1 if it was cut off. No instant of
	// the history is a cut: cuts are odd.
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
		s.Ops = append(s.Ops, judge.Operation[HoldingsStep]{Input: in, Call: call, Ret: ret})
	}
	for i, p := range pieces {
		ret := judge.Clock(int64(p.From))
		add(after(ret), HoldingsStep{Kind: Take, Piece: i}, judge.Clock(int64(p.Call)), ret)
		if p.To != facts.Forever {
			call := judge.Clock(int64(p.To))
			add(after(call), HoldingsStep{Kind: Give, Piece: i}, call, max(call, judge.Clock(int64(p.Free))))
		}
	}
	if sizes != nil {
		for _, c := range sizes.All[1:] {
			call := judge.Clock(int64(c.Call))
			add(after(call), HoldingsStep{Kind: Resize, Size: c.Size}, call, judge.Clock(int64(c.Ret)))
		}
	}
	return segments
}

// holdingsCuts returns the segments, without their operations.
func holdingsCuts(pieces []facts.Piece, sizes *Sizes, size int, begin holdingsCut, until, first time.Duration) []holdingsSegment {
	// asked[i] is the earliest call of the pieces from i on.
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
		at := judge.Clock(int64(p.From)) + 1
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
