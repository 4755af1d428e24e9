package checker

// What the engines do window by window, at once: so tests hold one against the
// other.

// atOnce searches the segments of a history until one is illegal.
func atOnce[C, I any](segments []segment[C, I], search func(segment[C, I]) answer) answer {
	var s segmentSearch[C, I]
	s.window(segments, true, search)
	return s.answer
}

func (s *searchCaps) mutex(pieces []piece) answer {
	return atOnce(cutHoldings(pieces, nil, s.size, beginning(nil), forever, forever), searchHoldings(s, nil))
}

func (s *searchCaps) readWrite(pieces []piece) answer {
	return atOnce(cutHoldings(pieces, nil, s.size, beginning(nil), forever, forever), searchHoldings(s, besideReaders(pieces)))
}

func (s *searchCaps) permits(pieces []piece, sizes *sizes) answer {
	return atOnce(cutHoldings(pieces, sizes, s.size, beginning(sizes), forever, forever), searchHoldings(s, besidePermits(pieces)))
}

func (s *searchCaps) queue(queue []*contender) answer {
	return atOnce(cutQueue(queue, s.size, queueStart, forever), searchQueue(s))
}

func (s *searchCaps) barrier(x *crossing) answer {
	return atOnce(cutBarrier(x.operations(), s.size, barrierState{}, never), searchBarrier(s))
}

// overlaps counts the pairs that sweep finds.
func overlaps(pieces []piece, clash func(a, b *hold) bool) int {
	n := 0
	sweep(pieces, clash, func(_, _ piece) bool { n++; return n < maxPairs })
	return n
}
