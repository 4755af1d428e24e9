package facts

import (
	"slices"
	"time"
)

// Robbed reports whether the node that h stands on may have gone by some time though its
// owner had not released it: its session was forced to expire or was seen to end, or a fault
// deleted the node. The end of a session is seen up to sight late: only what was read until
// then tells, unless an answer of the servers proves that the session went on. It may not have
// gone so if the servers' logs say that its own session had it deleted by then.
func (t *Trace) Robbed(h *Hold, by, sight time.Duration) bool {
	if t.Service != nil && t.Service.GaveUp(h, by) {
		return false
	}
	seen, ended := t.Sessions.Expired[h.Session]
	if ended && h.Session != "" && seen <= After(by, sight) && t.Sessions.Alive[h.Session] < by {
		return true
	}
	return slices.ContainsFunc(t.Faults.Excusing(h.Process, h.Session, h.Call, by), func(f *Fault) bool { return f.robbed(h) })
}
