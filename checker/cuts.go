package checker

import (
	"math"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// never is the time of an operation of a search that has no bound.
const never = int64(math.MaxInt64)

// twice maps nanoseconds to the clock of the search, which has an instant
// between any two of them.
func twice(d int64) int64 {
	if d >= never/2 {
		return never
	}
	return 2 * d
}

// segment is a stretch of a mutex history that can be searched by itself.
type segment struct {
	cutAt // where it begins
	ops   []porcupine.Operation
}

// cutAt is a cut, and the state of the lock there.
type cutAt struct {
	time   int64 // on the clock of the search
	holder int   // index of a piece, or free
}

// start is where a history begins.
var start = cutAt{-1, free}

// cut turns the pieces of one lock, sorted by start, into segments of about
// size operations: an acquire in [call, from] and a release in [to, free] for
// each piece. The whole is linearizable exactly when every segment is.
//
// What comes before begin has been cut off already, with the same proof, and is
// left out. Nothing is cut after until: what the pieces say of later instants
// need not be known yet, for a segment that ends before depends on none of it.
//
// A cut is made at a decided instant: a time t strictly inside a piece of o,
// from(o) < t < to(o). Cutting there means: operations that returned before t
// belong to the left segment; acquires open across t start again at t in the
// right one; releases called before t that are not answered by then are
// answered at t; the right segment starts with o as holder.
//
// If the whole has a linearization L, then so has each side. At t, L has o as
// holder: its acquire returned before t, its release was called after t, and no
// other operation frees what o holds. An acquire X that is open across t takes
// effect after t in L: otherwise X's release would have to take effect before
// o's acquire, so before t, but it is called only after X returned, after t. A
// release Y ≠ o's that was called before t takes effect before t in L, as its
// hold must have ended before o's began. So restricting L to what takes effect
// before t, and after it, respects the intervals of both sides, and the left
// one ends with o as holder.
//
// If both sides have linearizations, the left one ends with o as holder: it
// contains o's acquire (or starts with o as holder) but not o's release, and
// the model lets nobody but o free what o holds. So it joins on to the right
// one, which starts there. Every interval was only made narrower by the cut, so
// the joined order respects the intervals of the whole.
//
// This holds for overlapping pieces as well, where the whole is illegal and a
// side must be: if o and p both span t, the segment in which the later of them
// acquires starts with, or contains the acquire of, the other, and the release
// of neither.
func cut(pieces []piece, size int, begin cutAt, until time.Duration) []segment {
	cuts := []cutAt{begin}
	last := max(begin.holder, -1)
	for i, p := range pieces {
		from, to := twice(int64(p.from)), twice(int64(p.to))
		if 2*(i-last) < size || p.from > until || from+1 >= to || from+1 <= cuts[len(cuts)-1].time {
			continue
		}
		cuts, last = append(cuts, cutAt{from + 1, i}), i
	}
	segments := make([]segment, len(cuts))
	for i, c := range cuts {
		segments[i].cutAt = c
	}
	add := func(i int, client int, in step, call, ret int64) {
		if i < 0 {
			return // cut off
		}
		s := &segments[i]
		call = max(call, s.time)
		if i+1 < len(cuts) {
			ret = min(ret, cuts[i+1].time)
		}
		s.ops = append(s.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Return: ret})
	}
	// after returns the segment in which instant t lies. No instant of the
	// history is a cut: cuts are odd.
	after := func(t int64) int {
		return sort.Search(len(cuts), func(i int) bool { return cuts[i].time > t }) - 1
	}
	for i, p := range pieces {
		ret := twice(int64(p.from))
		add(after(ret), i, step{i, true}, twice(int64(p.call)), ret)
		if p.to != forever {
			call := twice(int64(p.to))
			add(after(call), i, step{i, false}, call, max(call, twice(int64(p.free))))
		}
	}
	return segments
}
