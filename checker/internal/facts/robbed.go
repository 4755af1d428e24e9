package facts

import (
	"slices"
	"time"
)

// Robbed reports whether the node of h may have been deleted by a time without a release by its
// owner: its session was forced to expire or was seen to end, or a fault deleted the node. The
// end of a session is seen up to sight late. Only the events until by+sight count, unless an
// answer of the servers proves that the session lived on. The result is false if the servers'
// logs show that the node's own session had it deleted by then.
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
