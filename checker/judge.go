package checker

// judge decides one guarantee while the history goes by, and says so in a verdict.
type judge interface {
	// window shows it the trace each time that a window of the history has
	// been read, the last one included. What is settled or over there is not
	// in the next window: see trace.discardSettled. What is still open is shown again.
	// Other judges look at the trace at the same time: what a judge writes is
	// its own.
	window(e *engines, t *trace)
	// conclude completes the verdict. It is asked once, after the last window.
	conclude(e *engines, t *trace)
}

// newJudge returns the judge of a guarantee, whose verdict is v. A judge that has to
// hear of events as they are read makes t listen to it.
type newJudge func(t *trace, v *Verdict) judge

// begin makes a newJudge of what returns a judge of some type.
func begin[J judge](j func(t *trace, v *Verdict) J) newJudge {
	return func(t *trace, v *Verdict) judge { return j(t, v) }
}

// atEnd is a judge that looks at what the trace has on record at the end alone.
type atEnd struct {
	v      *Verdict
	decide func(t *trace, v *Verdict)
}

func (atEnd) window(*engines, *trace) {}

func (j atEnd) conclude(_ *engines, t *trace) { j.decide(t, j.v) }

// judgeAtEnd makes a newJudge of what decides at the end.
func judgeAtEnd(decide func(t *trace, v *Verdict)) newJudge {
	return func(_ *trace, v *Verdict) judge { return atEnd{v, decide} }
}
