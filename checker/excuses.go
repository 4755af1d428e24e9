package checker

import (
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// excuses reports whether the fault excuses beliefs of the processes that it
// hits.
func (f *faultSpan) excuses() bool {
	return f.Name == histories.ForcedExpiry || f.Name == histories.WorkerPause || f.Name == histories.NodeDeletion
}

// grace is how long after its end a fault still excuses beliefs; negative if it
// excuses none at all. A forced expiry, or the deletion of a node, excuses only whom the target promises to
// tell. A process that does not run cannot be told of anything by any lock.
func (l *faultLog) grace(f *faultSpan) time.Duration {
	if f.Name == histories.WorkerPause {
		return l.wakeGrace
	}
	if bound := l.lossBound; bound > 0 {
		return bound
	}
	return -1
}

// excuses returns when the belief of h does not count. After a forced expiry that
// hit its process during the hold, or while its acquire was under way (the grant
// may have been on its way already), that is for the loss bound; while its
// process was paused, and until it must have noticed. They are disjoint and in
// order.
func (l *faultLog) excuses(h *hold) []span {
	var out []span
	from := h.call
	if h.recipe() == histories.Handoff {
		from -= l.lossBound // a place is handed on without a look at its node
	}
	for _, f := range l.excusing(h.process, from, h.end) {
		if f.stop < h.call && !f.robbed(h) {
			continue
		}
		grace := l.grace(f)
		if grace < 0 {
			continue
		}
		s := span{f.start, f.known(h, grace)}
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// deleted reports whether the fault was the deletion of the node that h stands on.
func (f *faultSpan) deleted(h *hold) bool {
	return f.Name == histories.NodeDeletion && !f.failed && f.Params["lock"] == h.lock && f.Params["token"] == strconv.FormatInt(h.token.Zxid, 10)
}

// known returns when the holder has to know of the fault at the latest, which gets so
// much time: forever while its end is not on record. Of the deletion of a node nobody
// hears whose link is down, until it is up again; how long it may believe until then
// is a matter of its session.
func (f *faultSpan) known(h *hold, grace time.Duration) time.Duration {
	switch {
	case f.stop == forever, f.deleted(h) && h.cutOff:
		return forever
	case f.deleted(h):
		return max(f.stop, h.linked) + grace
	}
	return f.stop + grace
}

// robbed reports whether the fault took away what h stands on: its node, or its
// session.
func (f *faultSpan) robbed(h *hold) bool {
	return f.deleted(h) || f.Name == histories.ForcedExpiry && h.session != "" && f.Params["session"] == h.session
}

// handedBlindly reports whether h was handed on within its client when what it stands
// on had just been taken away, and nobody there could know. It is the belief of the one
// before that goes on, and no grant of the service: what it writes the fence refuses.
func (l *faultLog) handedBlindly(h *hold) bool {
	if h.recipe() != histories.Handoff || h.token.Sub == 0 {
		return false
	}
	bound := l.lossBound
	return slices.ContainsFunc(l.excusing(h.process, h.call-bound, h.start), func(f *faultSpan) bool {
		return f.robbed(h) && h.start <= after(f.stop, bound)
	})
}
