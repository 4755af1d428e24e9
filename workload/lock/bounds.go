package lock

import "time"

// ProgressBound is what every target is given to recover in: a session that
// was abandoned at the last moment has to expire, the servers may have to
// elect a leader, and clients connect again at their own pace.
func (s Settings) ProgressBound() time.Duration { return s.SessionTimeout + 6*time.Second }

// LossBound is one heartbeat plus one round trip, the promise of package recipes for
// a session that an administrator closes. Heartbeats are at most a third of the
// session timeout apart; the rest is for an ensemble that is busy electing.
func (s Settings) LossBound() time.Duration { return s.SessionTimeout }

// RevokeBound is what a request to release gets to reach a holder who keeps its
// lease: a watch event, and whatever a holder whose link is down needs to notice
// and to look again. After a session timeout without a link its lease is lost.
func (s Settings) RevokeBound() time.Duration { return s.SessionTimeout }

// TurnBound is what the first in a queue gets until it is granted the lock, when all is
// well: a watch event and a list, which take milliseconds. A client that misses the event
// looks by itself only after three quarters of a session timeout. The bound is no less than SilentAfter.
func (s Settings) TurnBound() time.Duration { return max(s.SessionTimeout/2, SilentAfter) }

// SilentAfter is how long a server may stand still until a run has found that out.
const SilentAfter = 750 * time.Millisecond
