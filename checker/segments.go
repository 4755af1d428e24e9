package checker

// segment is a stretch of the history of one lock that can be searched by itself: it
// begins at a cut, which says what the state is there.
type segment[C, I any] struct {
	cut C
	ops []operation[I]
}

// segmentSearch searches one lock as windows of the history show it. The segment that
// has no end yet goes on into the next window.
type segmentSearch[C, I any] struct {
	answer answer
	gaveUp bool
}

// done reports whether there is nothing left to be found out.
func (r *segmentSearch[C, I]) done() bool { return r.gaveUp || r.answer.illegal }

// window searches the segments that are complete: all but the last one, and that
// as well if the history has come to its end. It stops at the first illegal one.
func (r *segmentSearch[C, I]) window(segments []segment[C, I], ended bool, search func(segment[C, I]) answer) {
	if !ended {
		segments = segments[:len(segments)-1]
	}
	for _, seg := range segments {
		r.answer.add(search(seg))
		if r.answer.illegal {
			return
		}
	}
}

// giveUpOn gives the search up if the segment that goes on has become too large to be
// searched.
func (r *segmentSearch[C, I]) giveUpOn(s *searchCaps, open segment[C, I]) {
	if n := len(open.ops); s.tooLong(n) {
		r.answer.add(needs(n))
		r.gaveUp = true
	}
}
