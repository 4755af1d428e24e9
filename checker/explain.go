package checker

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/story"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Explanation tells one violation in plain words.
type Explanation struct {
	Verdict verdict.Verdict
	Witness verdict.Witness
	// Story has what happened around it, in order: what the parties did, what the
	// session and the faults did to them, and who else used the lock just before
	// and after.
	Story []Line
	// Fencing says what a fencing token would have done.
	Fencing string

	guarantee Guarantee
	trace     *facts.Trace
}

// Line is one event of a story.
type Line struct {
	Time time.Duration `json:"time"` // on the run's clock
	Line int           `json:"line"` // of the file
	What string        `json:"what"`
}

// Explain tells the first violation of a guarantee that h has. An empty guarantee
// means the first one that is violated, in the order of reports. Errors:
// [ErrNotViolated], those of [Check].
func Explain(ctx context.Context, h *histories.History, guarantee string, opts ...Option) (*Explanation, error) {
	v, g, err := firstViolated(ctx, h, guarantee, opts)
	if err != nil {
		return nil, err
	}
	t := facts.Of(h)
	x := &Explanation{Verdict: *v, Witness: v.Witnesses[0], guarantee: g, trace: t}
	for _, i := range story.Pick(t, x.Witness) {
		e := &h.Events[i]
		x.Story = append(x.Story, Line{e.Time, h.LineOf(i), story.Tell(e)})
	}
	x.Fencing = g.fenced(x.Witness)
	return x, nil
}
