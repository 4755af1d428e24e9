package checker

import "github.com/zkverify/zkverify/histories"

// decides returns whether the operation that event i invokes decides a violation
// without being one of its parties, so that without it the same parties would
// break another rule, or the same one for another reason.
//
// Which size a grant had to fit is decided by the changes that can have been in
// force while it was asked for. With those, the size that the history begins with
// is in force at none that it was not before: if it is at an end when a grant is
// asked for, then because a change returned, the last of which is in force.
func (t *trace) decides(guarantee string, w Witness) func(event int) bool {
	keep := map[int]bool{}
	switch {
	case guarantee == Permits:
		var windows []span
		for _, p := range w.Parties {
			for _, h := range t.holds {
				if h.acquire.invoke == p.Invoke {
					windows = append(windows, span{h.call, h.start})
				}
			}
		}
		if len(windows) == 0 { // no order of the changes allows what was granted
			windows = []span{{w.From, w.To}}
		}
		changes := t.sizesOf(w.Lock).all[1:]
		for _, window := range windows {
			for _, c := range changes {
				if c.call <= window.to && c.until >= window.from {
					keep[c.event] = true
				}
			}
		}
	case guarantee == Barriers && t.single(w.Lock):
		from, to := w.From, w.To
		for _, p := range w.Parties {
			from, to = min(from, p.From), max(to, min(p.To, t.end))
		}
		for _, o := range t.ops {
			if o.lock == w.Lock && o.kind == histories.Remove && o.result != histories.Fail && o.call <= to && until(o) >= from {
				keep[o.invoke] = true
			}
		}
	}
	return func(event int) bool { return keep[event] }
}
