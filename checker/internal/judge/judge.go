package judge

import (
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
)

// Judge decides one guarantee while the history goes by, and says so in a verdict.
type Judge interface {
	// Window shows it the trace each time that a window of the history has
	// been read, the last one included. What is settled or over there is not
	// in the next window: see facts.Trace.DiscardSettled. What is still open is shown again.
	// Other judges look at the trace at the same time: what a judge writes is
	// its own. It returns how many things of its own it keeps and goes through again in
	// the next window: that is the longer for it, or all of them would cost a visit for
	// each few events.
	Window(e *Engines, t *facts.Trace) (kept int)
	// Conclude completes the verdict. It is asked once, after the last window.
	Conclude(e *Engines, t *facts.Trace)
}

// Maker makes the judge of a guarantee, which fills in v. A judge that has to hear
// of events as they are read makes t listen to it.
type Maker func(t *facts.Trace, v *verdict.Verdict) Judge

// atEnd is a judge that looks at what the trace has on record at the end alone.
type atEnd struct {
	v      *verdict.Verdict
	decide func(t *facts.Trace, v *verdict.Verdict)
}

func (atEnd) Window(*Engines, *facts.Trace) int { return 0 }

func (j atEnd) Conclude(_ *Engines, t *facts.Trace) { j.decide(t, j.v) }

// AtEnd returns the maker of a judge that decides at the end.
func AtEnd(decide func(t *facts.Trace, v *verdict.Verdict)) Maker {
	return func(_ *facts.Trace, v *verdict.Verdict) Judge { return atEnd{v, decide} }
}
