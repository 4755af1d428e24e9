package checker

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// proves takes note of what an answer says of its session: that it had certainly
// not ended when the servers were asked. The observer says only by when a session
// had ended, and it sees that late; what is answered after that proves nothing any
// more.
func (t *trace) proves(o *op) {
	if !o.ok() {
		return
	}
	switch {
	case o.kind == histories.Read, o.kind == histories.Write, o.kind == histories.Release:
		// The store is no part of the session, and a release may be local.
	case o.acquires() && (o.depth > 1 || o.again != nil):
		// So is a re-entry.
	default:
		t.livedAt(o.session, o.call)
	}
}

// livedAt takes note of a time at which a session had certainly not ended.
func (t *trace) livedAt(session string, at time.Duration) {
	if _, ended := t.expired[session]; !ended && session != "" {
		t.alive[session] = max(t.alive[session], at)
	}
}

// livedOn reports whether the session of a hold that was given back is known to have
// gone on after that, or has been closed for it. Only then is what it stood on certainly
// gone: a release is over too when its client is told that the session has ended, and
// that may not be so. A leader that stood still for longer than a session timeout tells
// all clients that come to it that their sessions have ended, before it finds out that
// it has been deposed. The one that follows it gives each of them, and all that it made,
// a whole timeout more.
func (t *trace) livedOn(h *hold) bool {
	return h.closed || h.session == "" || t.alive[h.session] >= h.released
}
