package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// quiet are the stretches of time, of half a session timeout or more, in which the
// servers answered nobody: an election, or a machine that stands still. A lease can
// end in one without anybody's doing.
type quiet struct {
	least time.Duration
	last  time.Duration // when they answered last
	spans []span
}

// completed hears of an operation's answer.
func (q *quiet) completed(e *histories.Event) {
	if e.Type != histories.OK || e.Op == histories.Read || e.Op == histories.Write || e.Op == histories.Release || e.Depth > 1 {
		return // no answer of theirs, or none for certain: see proves
	}
	q.answered(e.Time)
}

func (q *quiet) answered(at time.Duration) {
	if at-q.last >= q.least {
		q.spans = append(q.spans, span{q.last, at})
	}
	q.last = at
}

// within reports whether there was one at some time of a stretch since whose end the
// servers have answered.
func (q *quiet) within(from, to time.Duration) bool {
	return slices.ContainsFunc(q.spans, func(s span) bool { return s.to >= from && s.from <= to })
}
