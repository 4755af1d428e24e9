package facts

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// SessionLog holds the facts of the lives of sessions. The observer of sessions records only a
// time by which a session had ended, and it records that late.
type SessionLog struct {
	Expired map[string]time.Duration // first seen expired
	Alive   map[string]time.Duration // the latest known instant at which it had not ended: see proves
}

func newSessionLog() SessionLog {
	return SessionLog{Expired: map[string]time.Duration{}, Alive: map[string]time.Duration{}}
}

// expire records that a session was seen to have ended.
func (l *SessionLog) expire(session string, at time.Duration) {
	if _, seen := l.Expired[session]; !seen {
		l.Expired[session] = at
	}
}

// proves records that the session of an answered operation had certainly not ended when the
// servers were asked. An answer after a session was seen to have ended proves nothing any more.
func (l *SessionLog) proves(o *Op) {
	if !o.OK() {
		return
	}
	switch {
	case o.Kind == histories.Read, o.Kind == histories.Write, o.Kind == histories.Release:
		// The store is no part of the session, and a release may be local.
	case o.Acquires() && (o.Depth > 1 || o.Again != nil):
		// A re-entry may be local, too.
	default:
		l.livedAt(o.Session, o.Call)
	}
}

// livedAt records a time at which a session had certainly not ended.
func (l *SessionLog) livedAt(session string, at time.Duration) {
	if _, ended := l.Expired[session]; !ended && session != "" {
		l.Alive[session] = max(l.Alive[session], at)
	}
}

// LivedOn reports whether the session of a hold that was released is known to have gone on
// after that, or has been closed for it. Only then is its node certainly gone: a release also
// ends when its client is told that the session has ended, and that may be wrong. A leader that
// stood still for longer than a session timeout tells all clients that connect to it that their
// sessions have ended, before it finds out that it has been deposed. The leader after it gives
// each of these sessions, with all their nodes, another whole timeout.
func (l *SessionLog) LivedOn(h *Hold) bool {
	return h.Closed || h.Session == "" || l.Alive[h.Session] >= h.Released
}
