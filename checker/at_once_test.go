package checker

// What the engines do window by window, at once: so tests hold one against the
// other.

// mutex searches the pieces of one lock, all at once. It stops at the first
// illegal segment.
func (s *search) mutex(pieces []piece) answer {
	m := newMutexSearch()
	m.segments(s, cut(pieces, s.size, start, forever))
	return m.answer
}

// queue searches one lock's queue, sorted by place, all at once. It stops at the
// first illegal segment.
func (s *search) queue(queue []*contender) answer {
	q := newQueueSearch()
	q.segments(s, cutQueue(queue, s.size, queueStart, forever))
	return q.answer
}

// readWrite searches the pieces of one read/write lock, all at once. It stops at
// the first illegal segment.
func (s *search) readWrite(pieces []piece) answer {
	return s.holdings(cutHoldings(pieces, nil, s.size, beginning(nil), forever, forever), besideReaders(pieces))
}

// overlaps counts the pairs that sweep finds.
func overlaps(pieces []piece, clash func(a, b *hold) bool) int {
	n := 0
	sweep(pieces, clash, func(_, _ piece) bool { n++; return n < maxPairs })
	return n
}
