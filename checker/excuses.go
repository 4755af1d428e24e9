package checker

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// lossBound is how long a holder may go on believing after its session was
// ended from the side. A target that never tells of loss promises no bound, so
// its holders have no excuse at all.
func (t *trace) lossBound() time.Duration {
	if !t.header.Promises.TellsLoss {
		return 0
	}
	return t.header.Promises.LossBound
}

// excuses reports whether the fault excuses beliefs of the processes that it
// hits.
func (f *faultSpan) excuses() bool {
	return f.Name == histories.ForcedExpiry || f.Name == histories.WorkerPause || f.Name == histories.NodeDeletion
}

// grace is how long after its end a fault still excuses beliefs; negative if it
// excuses none at all. A forced expiry, or the deletion of a node, excuses only whom the target promises to
// tell. A process that does not run cannot be told of anything by any lock.
func (t *trace) grace(f *faultSpan) time.Duration {
	if f.Name == histories.WorkerPause {
		return t.wakeGrace()
	}
	if bound := t.lossBound(); bound > 0 {
		return bound
	}
	return -1
}

// excusing returns the faults that excuse process and were in force at some time
// in [from, to].
func (t *trace) excusing(process int, from, to time.Duration) []*faultSpan {
	return t.forcedThat(func(f *faultSpan) bool { return f.hits(process) }, from, to)
}

// forcedThat returns the faults that excuse beliefs, are as asked for and were in
// force at some time in [from, to].
func (t *trace) forcedThat(is func(*faultSpan) bool, from, to time.Duration) []*faultSpan {
	var all []*faultSpan
	add := func(f *faultSpan) {
		if f.start <= to && f.stop >= from && is(f) {
			all = append(all, f)
		}
	}
	i, _ := slices.BinarySearchFunc(t.forced, from-t.longestForced, func(f *faultSpan, from time.Duration) int { return cmp.Compare(f.start, from) })
	for _, f := range t.forcing {
		if i < len(t.forced) && f.event >= t.forced[i].event {
			break // it is among them
		}
		add(f)
	}
	for ; i < len(t.forced) && t.forced[i].start <= to; i++ {
		add(t.forced[i])
	}
	return all
}

// forcedIn returns when forced expiries that hit process may have taken effect,
// if that may have been in [from, to]: some time from their start to their end.
// It takes a while when servers are busy, and what is acquired meanwhile is
// acquired in the session that is about to end.
func (t *trace) forcedIn(process int, from, to time.Duration) []span {
	return t.spansOf(histories.ForcedExpiry, process, from, to)
}

// wasForced reports whether a forced expiry may have ended a session of process in
// [from, to]. It hits the session's processes of its time: one that has ended before
// is none of them, though what it was told of the session still stands.
func (t *trace) wasForced(session string, process int, from, to time.Duration) bool {
	return len(t.forcedThat(func(f *faultSpan) bool {
		return f.Name == histories.ForcedExpiry && (f.hits(process) || f.Params["session"] == session)
	}, from, to)) > 0
}

// robbedIn returns when process may have lost a lock, or its place in a queue, without
// any warning: by a forced expiry, or since its node was deleted.
func (t *trace) robbedIn(process int, from, to time.Duration) []span {
	return append(t.forcedIn(process, from, to), t.spansOf(histories.NodeDeletion, process, from, to)...)
}

// pausedIn returns when process was paused at some time in [from, to].
func (t *trace) pausedIn(process int, from, to time.Duration) []span {
	return t.spansOf(histories.WorkerPause, process, from, to)
}

func (t *trace) spansOf(fault string, process int, from, to time.Duration) []span {
	var at []span
	for _, f := range t.excusing(process, from, to) {
		if f.Name == fault {
			at = append(at, span{f.start, f.stop})
		}
	}
	return at
}

// excuses returns when the belief of h does not count. After a forced expiry that
// hit its process during the hold, or while its acquire was under way (the grant
// may have been on its way already), that is for the loss bound; while its
// process was paused, and until it must have noticed. They are disjoint and in
// order.
func (t *trace) excuses(h *hold) []span {
	var out []span
	from := h.call
	if h.of.recipe == histories.Handoff {
		from -= t.lossBound() // a place is handed on without a look at its node
	}
	for _, f := range t.excusing(h.process, from, h.end) {
		if f.stop < h.call && !f.robbed(h) {
			continue
		}
		grace := t.grace(f)
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
func (t *trace) handedBlindly(h *hold) bool {
	if h.of.recipe != histories.Handoff || h.token.Sub == 0 {
		return false
	}
	bound := t.lossBound()
	return slices.ContainsFunc(t.excusing(h.process, h.call-bound, h.start), func(f *faultSpan) bool {
		return f.robbed(h) && h.start <= after(f.stop, bound)
	})
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
