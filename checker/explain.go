package checker

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/checker/internal/explain"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Explanation explains one violation in plain words.
type Explanation struct {
	Verdict verdict.Verdict
	Witness verdict.Witness
	// Story lists the events around the violation, in order: the actions of the parties, the
	// events of their sessions, the faults that hit them, and the uses of the lock by other
	// clients just before and after.
	Story []Line
	// More is the number of events of the parties that Story leaves out: it has ten at most.
	More int
	// Others are the verdicts on other guarantees with violations of the same cause.
	Others []verdict.Verdict
	// Fencing describes the effect that a fencing token would have had.
	Fencing string

	guarantee Guarantee
	excerpt   explain.Excerpt
	trace     *facts.Trace
}

// Line is one event of a story.
type Line struct {
	Time time.Duration `json:"time"` // on the run's clock
	Line int           `json:"line"` // of the file
	What string        `json:"what"`
}

// Explain explains the first violation of a guarantee in h. An empty guarantee stands for the
// first violated one, in the order of reports. Errors: [ErrNotViolated], those of [Check].
func Explain(ctx context.Context, h *histories.History, guarantee string, opts ...Option) (*Explanation, error) {
	if err := histories.Validate(h); err != nil {
		return nil, err
	}
	return ExplainEvents(ctx, SourceOf(h), guarantee, opts...)
}

// ExplainEvents is [Explain] for a history that need not be in memory: it reads the history
// three times. Its memory grows as that of [CheckEvents] does, and with the number of events
// around the violation.
func ExplainEvents(ctx context.Context, s Source, guarantee string, opts ...Option) (*Explanation, error) {
	v, g, r, err := firstViolated(ctx, s, guarantee, opts)
	if err != nil {
		return nil, err
	}
	events, c := r.Events, newCheck(ctx, opts)
	w := v.Witnesses[0]
	x, err := c.excerptOf(s, events, w, c.inMemory/8)
	if err != nil {
		return nil, err
	}
	// Without the servers' log: the witness already has what the log shows.
	told := &Explanation{Verdict: *v, Witness: w, guarantee: g, excerpt: x.Excerpt, trace: x.trace(facts.Begin(s.Header))}
	places, more := explain.Pick(told.trace, x.Excerpt, w)
	told.More = more
	for _, place := range places {
		e := &x.Events[place]
		told.Story = append(told.Story, Line{e.Time, x.lines[place], explain.Tell(&s.Header, e)})
	}
	told.Fencing = g.fenced(w)
	if cause := w.Cause(); cause != "" {
		for _, o := range verdict.Broken(cause, r.Verdicts) {
			if o.Guarantee != v.Guarantee {
				told.Others = append(told.Others, *o)
			}
		}
	}
	return told, nil
}
