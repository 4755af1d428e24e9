package facts

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// SessionLog has what is known of the lives of sessions. The observer says only by
// when a session had ended, and it sees that late.
type SessionLog struct {
	Expired map[string]time.Duration // first seen expired
	Alive   map[string]time.Duration // an instant at which it had not ended: see proves
}

func newSessionLog() SessionLog {
	return SessionLog{Expired: map[string]time.Duration{}, Alive: map[string]time.Duration{}}
}

// expire takes in that a session was seen to have ended.
func (l *SessionLog) expire(session string, at time.Duration) {
	if _, seen := l.Expired[session]; !seen {
		l.Expired[session] = at
	}
}

// proves takes note of what an answer says of its session: that it had certainly
// not ended when the servers were asked. What is answered after a session was seen
// to have ended proves nothing any more.
func (l *SessionLog) proves(o *Op) {
	if !o.OK() {
		return
	}
	switch {
	case o.Kind == histories.Read, o.Kind == histories.Write, o.Kind == histories.Release:
		// The store is no part of the session, and a release may be local.
	case o.Acquires() && (o.Depth > 1 || o.Again != nil):
		// So is a re-entry.
	default:
		l.livedAt(o.Session, o.Call)
	}
}

// livedAt takes note of a time at which a session had certainly not ended.
func (l *SessionLog) livedAt(session string, at time.Duration) {
	if _, ended := l.Expired[session]; !ended && session != "" {
		l.Alive[session] = max(l.Alive[session], at)
	}
}

// LivedOn reports whether the session of a hold that was given back is known to have
// gone on after that, or has been closed for it. Only then is what it stood on certainly
// gone: a release is over too when its client is told that the session has ended, and
// that may not be so. A leader that stood still for longer than a session timeout tells
// all clients that come to it that their sessions have ended, before it finds out that
// it has been deposed. The one that follows it gives each of them, and all that it made,
// a whole timeout more.
func (l *SessionLog) LivedOn(h *Hold) bool {
	return h.Closed || h.Session == "" || l.Alive[h.Session] >= h.Released
}
