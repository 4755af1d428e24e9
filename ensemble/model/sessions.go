package model

import (
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// serverNumber is the number of the server through which a session's requests come.
type serverNumber int

// noOwner is the owner of a session that has sent no request since the leader took over.
const noOwner serverNumber = 0

// session is the leader's entry of a session.
type session struct {
	owner   serverNumber
	expires int64 // the tick
	closing bool
}

// tracker follows the sessions of an ensemble at its leader.
//
// A session that was touched expires with the first tick after its timeout has passed
// (SessionTrackerImpl and ExpiryQueue of ZooKeeper 3.8 and 3.9): all sessions of a tick
// expire together.
type tracker struct {
	tick     time.Duration
	sessions map[int64]*session
	next     int64 // the tick whose sessions expire next
}

// newTracker returns a tracker that begins at the time now of the leader's clock.
func newTracker(now, tick time.Duration) *tracker {
	t := &tracker{tick: tick, sessions: map[int64]*session{}}
	t.next = t.after(now)
	return t
}

// after returns the first tick after a time.
func (t *tracker) after(at time.Duration) int64 { return int64(at/t.tick) + 1 }

// Track begins to follow a session, or touches it.
func (t *tracker) Track(now time.Duration, id int64, timeout time.Duration) {
	s := t.sessions[id]
	if s == nil {
		s = &session{}
		t.sessions[id] = s
	}
	s.expires = t.after(now + timeout)
}

// Touch postpones a session's expiry. It reports whether the session exists and is not
// being closed.
func (t *tracker) Touch(now time.Duration, id int64, timeout time.Duration) bool {
	s := t.sessions[id]
	if s == nil || s.closing {
		return false
	}
	s.expires = t.after(now + timeout)
	return true
}

// Own sets the owner of a session.
func (t *tracker) Own(id int64, owner serverNumber) {
	if s := t.sessions[id]; s != nil && !s.closing {
		s.owner = owner
	}
}

// Check returns SessionExpired for a session that does not exist or is being closed, and
// SessionMoved if the session has another owner. The first owner to ask gets a session
// that belongs to noOwner.
func (t *tracker) Check(id int64, owner serverNumber) wire.Code {
	s := t.sessions[id]
	switch {
	case s == nil || s.closing:
		return wire.SessionExpired
	case s.owner == noOwner:
		s.owner = owner
	case s.owner != owner:
		return wire.SessionMoved
	}
	return wire.OK
}

// Close marks a session as being closed: it does not expire any more, and its requests
// are refused.
func (t *tracker) Close(id int64) {
	if s := t.sessions[id]; s != nil {
		s.closing = true
	}
}

// Remove forgets a session.
func (t *tracker) Remove(id int64) { delete(t.sessions, id) }

// Due returns the instant at which the next tick's sessions expire.
func (t *tracker) Due() time.Duration { return time.Duration(t.next) * t.tick }

// Expire closes the sessions whose tick has come, and returns their ids in order.
func (t *tracker) Expire(now time.Duration) (ids []int64) {
	for ; now >= t.Due(); t.next++ {
		for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
			if s := t.sessions[id]; !s.closing && s.expires == t.next {
				s.closing = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}
