package holding

import (
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
)

// DecidePermits keeps the changes of the size that decide whether there was room for a grant:
// those that can have been in force while it was asked for. Without them the same parties would
// violate another rule, or the same one for another reason.
//
// With these changes kept, the initial size is in force at no instant at which it was not
// before. If it ended before a grant was asked for, a change had returned by then, and the last
// such change is in force and kept.
func DecidePermits(t *facts.Trace, w verdict.Witness, keep map[int]bool) {
	var windows []facts.Span
	for _, p := range w.Parties {
		for _, h := range t.Holds {
			if h.Acquire.Invoke == p.Invoke {
				windows = append(windows, facts.Span{From: h.Call, To: h.Start})
			}
		}
	}
	if len(windows) == 0 { // the violation is that no order of the changes allows the grants
		windows = []facts.Span{{From: w.From, To: w.To}}
	}
	changes := SizesOf(t, w.Lock).All[1:]
	for _, window := range windows {
		for _, c := range changes {
			if c.Call <= window.To && c.Until >= window.From {
				keep[c.event] = true
			}
		}
	}
}
