package facts

import (
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// excuses reports whether the fault excuses beliefs of the processes that it
// hits.
func (f *Fault) excuses() bool {
	return f.Name == histories.ForcedExpiry || f.Name == histories.NodeDeletion || f.Pauses()
}

// ForcesExpiry reports whether the fault forces a session to expire.
func (f *Fault) ForcesExpiry() bool { return f.Name == histories.ForcedExpiry }

// Pauses reports whether the processes that the fault hits do not run meanwhile.
func (f *Fault) Pauses() bool { return f.Name == histories.WorkerPause || f.Name == stall }

// grace is how long after its end a fault still excuses beliefs; negative if it
// excuses none at all. A forced expiry, or the deletion of a node, excuses only whom the target promises to
// tell. A process that does not run cannot be told of anything by any lock.
func (l *FaultLog) grace(f *Fault) time.Duration {
	if f.Pauses() {
		return l.WakeGrace
	}
	if bound := l.LossBound; bound > 0 {
		return bound
	}
	return -1
}

// Excuses returns when the belief of h does not count. After a forced expiry that
// hit its process during the hold, or while its acquire was under way (the grant
// may have been on its way already), that is for the loss bound; while its
// process was paused, or the one that records stood still, and until it must have
// noticed. They are disjoint and in order.
func (l *FaultLog) Excuses(h *Hold) []Span {
	var out []Span
	from := h.Call
	if h.Recipe() == histories.Handoff {
		from -= l.LossBound // a place is handed on without a look at its node
	}
	for _, f := range l.Excusing(h.Process, h.Session, from, h.End) {
		if f.Stop < h.Call && !f.robbed(h) {
			continue
		}
		grace := l.grace(f)
		if grace < 0 {
			continue
		}
		s := Span{f.Start, f.Known(h, grace)}
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Deletes reports whether the fault is the deletion of a lock's node, which is known by its
// token or, if it has none, by its session. One that failed may have been carried out.
func (f *Fault) Deletes(lock string, token histories.Token, session string) bool {
	switch {
	case f.Name != histories.NodeDeletion || f.Params["lock"] != lock:
		return false
	case token.Zxid == 0:
		return session != "" && f.Params["session"] == session
	}
	return f.Params["token"] == strconv.FormatInt(token.Zxid, 10)
}

// Deleted reports whether the fault was the deletion of the node that h stands on. Without a
// token the session may have had other nodes before and after.
func (f *Fault) Deleted(h *Hold) bool {
	return f.Deletes(h.Lock, h.Token, h.Session) && !f.failed && (h.Token.Zxid != 0 || h.Start <= f.Start && f.Start < h.End)
}

// Known returns the time by which the holder must know of the fault: grace after its end,
// or forever while its end is not on record. A holder whose link is down cannot learn that
// its node was deleted until the link is up again. Its session decides how long it may
// believe until then.
func (f *Fault) Known(h *Hold, grace time.Duration) time.Duration {
	switch {
	case f.Stop == Forever:
		return Forever
	case f.Deleted(h):
		return After(h.ReachableFrom(f.Stop, grace), grace)
	}
	return f.Stop + grace
}

// robbed reports whether the fault deleted the node of h or ended its session.
func (f *Fault) robbed(h *Hold) bool {
	return f.Deleted(h) || f.Name == histories.ForcedExpiry && h.Session != "" && f.Params["session"] == h.Session
}

// HandedBlindly reports whether h was handed on within its client after a fault had deleted
// its node or ended its session, when the client could not know that yet. Such a hold
// continues the belief of the holder before it. The servers did not grant it, and the fence
// refuses what it writes.
func (l *FaultLog) HandedBlindly(h *Hold) bool {
	if h.Recipe() != histories.Handoff || h.Token.Sub == 0 {
		return false
	}
	bound := l.LossBound
	return slices.ContainsFunc(l.Excusing(h.Process, h.Session, h.Call-bound, h.Start), func(f *Fault) bool {
		return f.robbed(h) && h.Start <= After(f.Stop, bound)
	})
}
