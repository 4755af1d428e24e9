package lock

import "time"

// ProgressBound returns the time that every target has to recover: a session that was abandoned
// at the last moment has to expire, the servers may have to elect a leader, and clients connect
// again at their own pace.
func (s Settings) ProgressBound() time.Duration { return s.SessionTimeout + 6*time.Second }

// LossBound returns the time in which a holder must learn that an administrator has closed its
// session. Package recipes promises one heartbeat plus one round trip. Heartbeats are at most a
// third of the session timeout apart; the rest is for an ensemble that is busy electing.
func (s Settings) LossBound() time.Duration { return s.SessionTimeout }

// RevokeBound returns the time in which a request to release must reach a holder that keeps its
// lease: a watch event, and the time that a holder whose link is down needs to notice and to
// look again. After a session timeout without a link its lease is lost.
func (s Settings) RevokeBound() time.Duration { return s.SessionTimeout }

// TurnBound returns the time in which the first contender in a queue must get the lock if there
// are no faults: a watch event and a list, which take milliseconds. A client that misses the
// event looks by itself only after three quarters of a session timeout. The bound is no less
// than SilentAfter.
func (s Settings) TurnBound() time.Duration { return max(s.SessionTimeout/2, SilentAfter) }

// SilentAfter is the longest time that a server may stand still before a run has noticed it.
const SilentAfter = 750 * time.Millisecond
