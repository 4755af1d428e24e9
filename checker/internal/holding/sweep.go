package holding

import (
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// maxPairs bounds the overlaps that a sweep counts: a lock that excludes nobody
// has quadratically many.
const maxPairs = 100_000

// differ is the clash of a mutex: any two holds.
func differ(a, b *facts.Hold) bool { return a != b }

// sweep calls report for every two pieces that overlap and whose holds clash,
// the earlier first, and stops when report returns false. It is the interval
// engine: the pieces are sorted by start, so one pass with the pieces that are
// still open finds every pair.
//
// Intervals are closed, as in Porcupine: two that touch in one instant do not
// overlap, since the clock does not say which of two equal times came first.
func sweep(pieces []facts.Piece, clash func(a, b *facts.Hold) bool, report func(a, b facts.Piece) bool) {
	var open []facts.Piece
	for _, p := range pieces {
		open = slices.DeleteFunc(open, func(q facts.Piece) bool { return q.To <= p.From })
		for _, q := range open {
			if q.From < p.To && p.From < q.To && clash(q.Hold, p.Hold) && !report(q, p) {
				return
			}
		}
		open = append(open, p)
	}
}
