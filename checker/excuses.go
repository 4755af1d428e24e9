package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// lossBound is how long a holder may go on believing after its session was
// ended from the side. A target that never tells of loss promises no bound, so
// its holders have no excuse at all.
func (t *trace) lossBound() time.Duration {
	if !t.h.Header.Promises.TellsLoss {
		return 0
	}
	return t.h.Header.Promises.LossBound
}

// forcedIn returns the starts of forced expiries that hit process in
// [from, to].
func (t *trace) forcedIn(process int, from, to time.Duration) []time.Duration {
	var at []time.Duration
	for _, f := range t.faults {
		if f.Name == histories.ForcedExpiry && f.start >= from && f.start <= to && f.hits(process) {
			at = append(at, f.start)
		}
	}
	return at
}

// excuses returns when the belief of h does not count: for the loss bound after
// a forced expiry that hit its process during the hold, or while its acquire
// was under way (the grant may have been on its way already). They are disjoint
// and in order.
func (t *trace) excuses(h *hold) []span {
	bound := t.lossBound()
	if bound <= 0 {
		return nil
	}
	var out []span
	for _, x := range t.forcedIn(h.process, h.call, h.end) {
		s := span{x, x + bound}
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

// pieces returns the parts of h that count, as closed intervals.
func (h *hold) pieces() []span {
	out := []span{{h.start, h.end}}
	for _, x := range h.excuses {
		last := out[len(out)-1]
		out = out[:len(out)-1]
		if x.from > last.to || x.to < last.from {
			out = append(out, last)
			continue
		}
		if last.from < x.from {
			out = append(out, span{last.from, x.from})
		}
		if x.to >= last.to {
			return slices.Clip(out)
		}
		out = append(out, span{x.to, last.to})
	}
	return out
}
