package holding

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// maxPairs bounds the overlaps that a sweep counts: a lock that excludes no other holder has
// quadratically many.
const maxPairs = 100_000

// clash decides which holds of a lock must not overlap.
type clash struct {
	clash  func(a, b *facts.Hold) bool
	beside func(*facts.Hold) bool // no two holds for which it is true clash; nil: there are none
}

// differ is the clash of a mutex: any two holds.
var differ = clash{clash: func(a, b *facts.Hold) bool { return a != b }}

// sweep calls report for every two pieces that overlap and whose holds clash, one of which is
// over, the earlier piece first, and stops when report returns false. It is the interval
// engine: the pieces are sorted by start, so one pass with the pieces that are still open finds
// every pair. It visits no other pairs, so its work grows with the pieces and the pairs that it
// reports. It ends early if judging is to stop.
//
// Intervals are closed, as in Porcupine: two that touch in one instant do not overlap, since
// the clock does not order equal times.
func sweep(t *facts.Trace, pieces []facts.Piece, c clash, over func(*facts.Hold) bool, report func(a, b facts.Piece) bool) {
	byEnd := make([]int, len(pieces))
	for i := range pieces {
		byEnd[i] = i
	}
	facts.Sort(t, byEnd, func(a, b int) int { return cmp.Compare(pieces[a].To, pieces[b].To) })
	ended := make([]bool, len(pieces))
	// open[k] holds the pieces that a new piece is compared with. k is 0 for a new piece that
	// is over and clashes with any, and has a bit for each restriction:
	const (
		ofOver   = 1 // it is not over: compare only with pieces that are
		ofOthers = 2 // it is one that beside allows: compare only with the others
	)
	var open [4]openPieces
	for i, p := range facts.Each(t, pieces) {
		for ; len(byEnd) > 0 && pieces[byEnd[0]].To <= p.From; byEnd = byEnd[1:] {
			ended[byEnd[0]] = true
		}
		isOver, beside := over(p.Hold), c.beside != nil && c.beside(p.Hold)
		k := 0
		if !isOver {
			k |= ofOver
		}
		if beside {
			k |= ofOthers
		}
		for _, q := range open[k].left(ended) {
			if q := pieces[q]; q.From < p.To && p.From < q.To && c.clash(q.Hold, p.Hold) && !report(q, p) {
				return
			}
		}
		for k := range open {
			if (isOver || k&ofOver == 0) && (!beside || k&ofOthers == 0) {
				open[k] = append(open[k], i)
			}
		}
	}
}

// openPieces lists pieces by their numbers, in order. Some may have ended.
type openPieces []int

// left drops the pieces that have ended. Each piece is visited once for each pair that it is
// in, and once more.
func (o *openPieces) left(ended []bool) []int {
	*o = slices.DeleteFunc(*o, func(i int) bool { return ended[i] })
	return *o
}
