package judge

// Segment is a stretch of the history of one lock that can be searched by itself. It begins at
// a cut, which holds the state there.
type Segment[C, I any] struct {
	Cut C
	Ops []Operation[I]
}

// SegmentSearch searches one lock in the windows of the history. A segment that is not complete
// yet continues in the next window.
type SegmentSearch[C, I any] struct {
	Answer Answer
	gaveUp bool
}

// Done reports whether further segments cannot change the answer.
func (r *SegmentSearch[C, I]) Done() bool { return r.gaveUp || r.Answer.Illegal }

// Window searches the complete segments: all but the last one, and that one too if the history
// has ended. It stops at the first illegal segment.
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

// GiveUpOn gives the search up if the open segment has become too large to be searched.
func (r *SegmentSearch[C, I]) GiveUpOn(s *Caps, open Segment[C, I]) {
	if n := len(open.Ops); s.tooLong(n) {
		r.Answer.add(needs(n))
		r.gaveUp = true
	}
}
