package checker

// A judge decides one guarantee while the history goes by.
type judge interface {
	// window shows it the trace each time that a window of the history has
	// been read, the last one included. What is settled or over there is not
	// in the next window: see trace.turn. What is still open is shown again.
	// Other judges look at the trace at the same time: what a judge writes is
	// its own.
	window(c *check, t *trace)
	// verdict is asked once, after the last window.
	verdict(c *check, t *trace) Verdict
}

// atEnd judges by what the trace has on record at the end.
type atEnd func(*check, *trace) Verdict

func (atEnd) window(*check, *trace) {}

func (a atEnd) verdict(c *check, t *trace) Verdict { return a(c, t) }
