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
	excerpt   story.Excerpt
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
	if err := histories.Validate(h); err != nil {
		return nil, err
	}
	return ExplainEvents(ctx, SourceOf(h), guarantee, opts...)
}

// ExplainEvents is [Explain] of a history that need not be in memory: it is gone through three
// times. Memory goes with what [CheckEvents] keeps, and with what took place around the
// violation.
func ExplainEvents(ctx context.Context, s Source, guarantee string, opts ...Option) (*Explanation, error) {
	v, g, events, err := firstViolated(ctx, s, guarantee, opts)
	if err != nil {
		return nil, err
	}
	c := newCheck(ctx, opts)
	w := v.Witnesses[0]
	x, err := c.excerptOf(s, events, w, c.inMemory/8)
	if err != nil {
		return nil, err
	}
	// Not judged by what the servers did: that is in the witness.
	told := &Explanation{Verdict: *v, Witness: w, guarantee: g, excerpt: x.Excerpt, trace: x.trace(facts.Begin(s.Header))}
	for _, place := range story.Pick(told.trace, x.Excerpt, w) {
		e := &x.Events[place]
		told.Story = append(told.Story, Line{e.Time, x.lines[place], story.Tell(e)})
	}
	told.Fencing = g.fenced(w)
	return told, nil
}
