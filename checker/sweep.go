package checker

import "slices"

// maxPairs bounds the overlaps that a sweep counts: a lock that excludes nobody
// has quadratically many.
const maxPairs = 100_000

// differ is the clash of a mutex: any two holds.
func differ(a, b *hold) bool { return a != b }

// sweep calls report for every two pieces that overlap and whose holds clash,
// the earlier first, and stops when report returns false. It is the interval
// engine: the pieces are sorted by start, so one pass with the pieces that are
// still open finds every pair.
//
// Intervals are closed, as in Porcupine: two that touch in one instant do not
// overlap, since the clock does not say which of two equal times came first.
func sweep(pieces []piece, clash func(a, b *hold) bool, report func(a, b piece) bool) {
	var open []piece
	for _, p := range pieces {
		open = slices.DeleteFunc(open, func(q piece) bool { return q.to <= p.from })
		for _, q := range open {
			if q.from < p.to && p.from < q.to && clash(q.hold, p.hold) && !report(q, p) {
				return
			}
		}
		open = append(open, p)
	}
}
