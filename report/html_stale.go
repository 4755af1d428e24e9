package report

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// A hold is stale while its client believes in it although the service no longer backs
// it: from the end of its session, or, if its link is down, from the time at which the
// client could know that the session may have ended. It is stale until the client is
// told of the loss, or releases the lock.

// expired handles the event that the servers were seen to have ended a session.
func (t *timeline) expired(e *histories.Event) {
	t.endSession(e.Session, e.Time, "was seen to have ended")
}

// forced handles the end of a fault. A fault that ends a session has done so by then, even
// if the end is seen later.
func (t *timeline) forced(e *histories.Event) {
	if session := endedBy(e); session != "" {
		t.endSession(session, e.Time, "was ended by a fault")
	}
}

// endedBy returns the session that a fault has ended, if e is the end of such a fault, or "".
func endedBy(e *histories.Event) string {
	if e.Type != histories.FaultStop || e.Fault.Name != histories.ForcedExpiry || e.Error != "" {
		return ""
	}
	return e.Fault.Params["session"]
}

// endSession makes all holds of a session stale.
func (t *timeline) endSession(session string, at time.Duration, how string) {
	if t.ended[session] != "" {
		return
	}
	why := fmt.Sprintf("stale: session %s %s by %.6f s, and the client was not told", clip(session), how, at.Seconds())
	t.ended[session] = why
	for _, h := range t.holds {
		if h.Session == session {
			t.becomesStale(h, at, why)
		}
	}
}

// staleByClock makes h stale if its link has been down until now for longer than the
// session timeout: the session may have ended.
func (t *timeline) staleByClock(h *tenure, now time.Duration) {
	timeout := t.header.SessionTimeout
	if at := h.suspended + timeout; h.suspended >= 0 && timeout > 0 && at < now {
		t.becomesStale(h, at, "stale: the link has been down for the session timeout, so that the session may have ended")
	}
}

// becomesStale draws h up to the given time, and marks it as stale from then on.
func (t *timeline) becomesStale(h *tenure, at time.Duration, why string) {
	if h.Lost || h.kind == stale {
		return
	}
	for i, b := range h.inner {
		if b.from >= at {
			continue
		}
		b.to = at
		t.add(h.Lock, b)
		h.inner[i].from = at
	}
	if h.from < at {
		b := h.bar
		b.to = at
		t.add(h.Lock, b)
	}
	h.from, h.kind, h.note = at, stale, t.texts.number(why)
}
