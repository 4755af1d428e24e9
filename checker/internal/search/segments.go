package search

// Segment is a stretch of the history of one lock that can be searched by itself: it
// begins at a cut, which says what the state is there.
type Segment[C, I any] struct {
	Cut C
	Ops []Operation[I]
}

// SegmentSearch searches one lock as windows of the history show it. The segment that
// has no end yet goes on into the next window.
type SegmentSearch[C, I any] struct {
	Answer Answer
	gaveUp bool
}

// Done reports whether there is nothing left to be found out.
func (r *SegmentSearch[C, I]) Done() bool { return r.gaveUp || r.Answer.Illegal }

// Window searches the segments that are complete: all but the last one, and that
// as well if the history has come to its end. It stops at the first illegal one.
func (r *SegmentSearch[C, I]) Window(segments []Segment[C, I], ended bool, search func(Segment[C, I]) Answer) {
	if !ended {
		segments = segments[:len(segments)-1]
	}
	for _, seg := range segments {
		r.Answer.add(search(seg))
		if r.Answer.Illegal {
			return
		}
	}
}

// GiveUpOn gives the search up if the segment that goes on has become too large to be
// searched.
func (r *SegmentSearch[C, I]) GiveUpOn(s *Caps, open Segment[C, I]) {
	if n := len(open.Ops); s.tooLong(n) {
		r.Answer.add(needs(n))
		r.gaveUp = true
	}
}
