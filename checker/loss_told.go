package checker

import (
	"fmt"
	"slices"
	"time"
)

// lossIsTold: a holder whose session ends learns of it, not later than the
// moment an observer sees the session gone, since from then on others can be
// granted the lock; after a forced expiry, which gives no warning, not later
// than the loss bound.
//
// The observer sees the end late, which is lenient to the target. A belief that
// ended before, by release or crash, needed no word.
func (c *check) lossIsTold(t *trace) Verdict {
	p := t.h.Header.Promises
	v := Verdict{Guarantee: LossIsTold, Promised: p.TellsLoss, Expected: len(t.faults) > 0}
	var delays []time.Duration
	cases, undecided := 0, 0
	for _, h := range t.holds {
		gone, expired := t.expired[h.session]
		if !expired || h.session == "" {
			continue
		}
		// A lease granted on a session that had been seen dead is lost from
		// its first moment on.
		ended := max(gone, h.start)
		deadline := ended
		if x := t.forcedIn(h.process, h.call, gone); len(x) > 0 {
			// The last of them: an earlier one would have ended an earlier
			// session, or this one at once.
			ended = max(x[len(x)-1], h.start)
			deadline = max(deadline, x[len(x)-1]+p.LossBound)
		}
		if h.end < ended || h.end <= gone && h.why != byLoss {
			continue // nothing was held any more
		}
		if h.why == stillHeld && t.end <= deadline {
			undecided++ // the history ends before the bound does
			continue
		}
		cases++
		if h.why == byLoss {
			delays = append(delays, h.end-ended)
		}
		if h.end > deadline {
			v.violate(func() Witness { return t.untold(h, ended, deadline) })
		}
	}
	// Told before the observer saw it: the good case of an expiry by silence.
	for _, h := range t.holds {
		if gone, ok := t.expired[h.session]; ok && h.session != "" && h.why == byLoss && h.end < gone && len(t.forcedIn(h.process, h.call, gone)) == 0 {
			cases++
			delays = append(delays, h.end-gone)
		}
	}
	v.count("sessions ended while holding", cases)
	v.count("undecided at the end of the history", undecided)
	if len(delays) > 0 {
		slices.Sort(delays)
		v.Figures = append(v.Figures,
			Figure{"from end of session to lost, median", float64(delays[len(delays)/2]) / 1e6, "ms"},
			Figure{"from end of session to lost, longest", float64(delays[len(delays)-1]) / 1e6, "ms"})
	}
	if cases == 0 {
		v.idle("no session ended while its process held a lock")
		return v
	}
	v.conclude(fmt.Sprintf("%s ended while holding, each holder was told in time", plural(cases, "session")),
		fmt.Sprintf("%d of %d holders whose session ended were not told in time", v.Violations, cases))
	return v
}

func (t *trace) untold(h *hold, ended, deadline time.Duration) Witness {
	p := h.party()
	w := t.newWitness(h.lock, ended, h.end, p)
	told := "was never told"
	switch h.why {
	case byLoss:
		told = "was told only at " + at(h.end)
	case byRelease:
		told = "was not told before it released at " + at(h.end)
	case byCrashing:
		told = "was not told before it crashed at " + at(h.end)
	}
	w.What = fmt.Sprintf("the session of %v ended at %s (seen) while it held lock %q; it %s, and had to be by %s", p, at(ended), h.lock, told, at(deadline))
	return w
}
