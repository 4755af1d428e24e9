package facts

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Quiet records the stretches of time, of half a session timeout or more, in which the servers
// answered no client: an election, or a machine that stands still. A lease can end in such a
// stretch without an action of any client.
type Quiet struct {
	Least time.Duration
	last  time.Duration // when they answered last
	Spans []Span
}

// Completed takes in the answer of an operation.
func (q *Quiet) Completed(e *histories.Event) {
	if e.Type != histories.OK || e.Op == histories.Read || e.Op == histories.Write || e.Op == histories.Release || e.Depth > 1 {
		return // no answer of the servers, or none for certain: see proves
	}
	q.Answered(e.Time)
}

// Answered records that the servers have answered a client.
func (q *Quiet) Answered(at time.Duration) {
	if at-q.last >= q.Least {
		q.Spans = append(q.Spans, Span{q.last, at})
	}
	q.last = at
}

// Within reports whether [from, to] touches a quiet stretch after whose end the servers have
// answered.
func (q *Quiet) Within(from, to time.Duration) bool {
	i, _ := slices.BinarySearchFunc(q.Spans, from, func(s Span, from time.Duration) int { return cmp.Compare(s.To, from) })
	return i < len(q.Spans) && q.Spans[i].From <= to
}
