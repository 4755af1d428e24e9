package facts

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Quiet are the stretches of time, of half a session timeout or more, in which the
// servers answered nobody: an election, or a machine that stands still. A lease can
// end in one without anybody's doing.
type Quiet struct {
	Least time.Duration
	last  time.Duration // when they answered last
	Spans []Span
}

// Completed hears of an operation's answer.
func (q *Quiet) Completed(e *histories.Event) {
	if e.Type != histories.OK || e.Op == histories.Read || e.Op == histories.Write || e.Op == histories.Release || e.Depth > 1 {
		return // no answer of theirs, or none for certain: see proves
	}
	q.Answered(e.Time)
}

// Answered takes in that the servers have answered somebody.
func (q *Quiet) Answered(at time.Duration) {
	if at-q.last >= q.Least {
		q.Spans = append(q.Spans, Span{q.last, at})
	}
	q.last = at
}

// Within reports whether there was one at some time of a stretch since whose end the
// servers have answered.
func (q *Quiet) Within(from, to time.Duration) bool {
	i, _ := slices.BinarySearchFunc(q.Spans, from, func(s Span, from time.Duration) int { return cmp.Compare(s.To, from) })
	return i < len(q.Spans) && q.Spans[i].From <= to
}
