package facts

import (
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// excuses reports whether the fault excuses beliefs of the processes that it hits.
func (f *Fault) excuses() bool {
	return f.Name == histories.ForcedExpiry || f.Name == histories.NodeDeletion || f.Pauses()
}

// ForcesExpiry reports whether the fault forces a session to expire.
func (f *Fault) ForcesExpiry() bool { return f.Name == histories.ForcedExpiry }

// Pauses reports whether the processes that the fault hits do not run during the fault.
func (f *Fault) Pauses() bool { return f.Name == histories.WorkerPause || f.Name == stall }

// grace returns the time after its end for which a fault still excuses beliefs, or a negative
// value if it excuses none. A forced expiry, or the deletion of a node, excuses only holders
// that the target promises to tell. A process that does not run cannot be told by any lock.
func (l *FaultLog) grace(f *Fault) time.Duration {
	if f.Pauses() {
		return l.WakeGrace
	}
	if bound := l.LossBound; bound > 0 {
		return bound
	}
	return -1
}

// Excuses returns the times in which the belief of h does not count, disjoint and in order. A
// forced expiry that hit its process during the hold, or during its acquire (the servers may
// have sent the grant before), excuses it for the loss bound. A pause of its process, or a
// stall of the recording process, excuses it until the process must have noticed.
func (l *FaultLog) Excuses(h *Hold) []Span {
	var out []Span
	from := h.Call
	if h.Recipe() == histories.Handoff {
		from -= l.LossBound // the client hands a place on without reading its node
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

// Deletes reports whether the fault is the deletion of a lock's node, which is identified by
// its token or, if it has none, by its session. A deletion that failed may have been carried
// out.
func (f *Fault) Deletes(lock string, token histories.Token, session string) bool {
	switch {
	case f.Name != histories.NodeDeletion || f.Params["lock"] != lock:
		return false
	case token.Zxid == 0:
		return session != "" && f.Params["session"] == session
	}
	return f.Params["token"] == strconv.FormatInt(token.Zxid, 10)
}

// Deleted reports whether the fault was the deletion of the node of h. Without a token this is
// decided by time, since the session may have had other nodes before and after.
func (f *Fault) Deleted(h *Hold) bool {
	return f.Deletes(h.Lock, h.Token, h.Session) && !f.failed && (h.Token.Zxid != 0 || h.Start <= f.Start && f.Start < h.End)
}

// Known returns the time by which the holder must know of the fault: grace after the fault's
// end, or forever while its end is not on record. A holder whose link is down cannot learn that
// its node was deleted until the link is up again. Its session decides how long it may believe
// until then.
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
func (f *Fault) robbed(h *Hold) bool { return f.Robbed(h.Lock, h.Token, h.Session, h.Start, h.End) }

// Robbed reports whether the fault deleted the node of a hold of a lock that lasted from start to
// end, or ended its session.
func (f *Fault) Robbed(lock string, token histories.Token, session string, start, end time.Duration) bool {
	if f.Name == histories.ForcedExpiry {
		return session != "" && f.Params["session"] == session
	}
	return f.Deletes(lock, token, session) && !f.failed && (token.Zxid != 0 || start <= f.Start && f.Start < end)
}

// HandedBlindly reports whether h was handed on within its client after a fault had deleted its
// node or ended its session, and before the client could know. Such a hold continues the belief
// of the previous holder. The servers did not grant it, and the fence refuses its writes.
func (l *FaultLog) HandedBlindly(h *Hold) bool {
	if h.Recipe() != histories.Handoff || h.Token.Sub == 0 {
		return false
	}
	bound := l.LossBound
	return slices.ContainsFunc(l.Excusing(h.Process, h.Session, h.Call-bound, h.Start), func(f *Fault) bool {
		return f.robbed(h) && h.Start <= After(f.Stop, bound)
	})
}
