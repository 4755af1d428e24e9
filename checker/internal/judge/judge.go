package judge

import (
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
)

// Judge decides one guarantee while the history is read, and fills in its verdict.
type Judge interface {
	// Window shows the judge the trace each time that a window of the history has been read,
	// the last one included. Operations that are settled and holds that are over are not in the
	// next window: see facts.Trace.DiscardSettled. Those that are still open are shown again.
	// Other judges read the trace at the same time, so a judge writes only to its own data.
	// Window returns how many things the judge keeps and visits again in the next window. That
	// window is longer by as many events, or else every few events would cost a visit of all of
	// them.
	Window(e *Engines, t *facts.Trace) (kept int)
	// Conclude completes the verdict. It is called once, after the last window.
	Conclude(e *Engines, t *facts.Trace)
}

// Maker returns the judge of a guarantee, which fills in v. A judge that needs the events as
// they are read listens to t.
type Maker func(t *facts.Trace, v *verdict.Verdict) Judge

// atEnd is a judge that looks only at the complete trace, at the end.
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
