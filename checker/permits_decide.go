package checker

// decidePermits keeps the changes of the size that decide whether there was room for a
// grant: those that can have been in force while it was asked for. Without them the
// same parties would break another rule, or the same one for another reason.
//
// With those, the size that the history begins with is in force at none that it was
// not before: if it is at an end when a grant is asked for, then because a change
// returned, the last of which is in force.
func decidePermits(t *trace, w Witness, keep map[int]bool) {
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
}
