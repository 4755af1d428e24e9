package workload

import "time"

// progressBound is what every target is given to recover in: a session that
// was abandoned at the last moment has to expire, the servers may have to
// elect a leader, and clients connect again at their own pace.
func progressBound(s Settings) time.Duration { return s.SessionTimeout + 6*time.Second }

// turn is what each client takes for each lock in recovery, added to the bound: they
// share a machine. With ten recipes that is 360 turns; they take two seconds on an
// idle machine of two processors, and nine on one that has fifteen times as much to
// do.
const turn = 25 * time.Millisecond

// recoveryGrace is what recovery goes on for after its bound, so that a client
// that did not progress within the bound is on record as such.
const recoveryGrace = 100 * time.Millisecond

// lossBound is one heartbeat plus one round trip, the promise for a session
// that is closed from the side. Heartbeats are at most a third of the session
// timeout apart; the rest is for an ensemble that is busy electing.
func lossBound(s Settings) time.Duration { return s.SessionTimeout }

// revokeBound is what a request to release gets to reach a holder who keeps its
// lease: a watch event, and whatever a holder whose link is down needs to notice
// and to look again. After a session timeout without a link its lease is lost.
func revokeBound(s Settings) time.Duration { return s.SessionTimeout }

// turnBound is what the first in a queue gets until it is granted the lock, when all is
// well: a watch event and a list, which take milliseconds. Whoever misses the event
// looks by itself only once a session timeout. It is no less than what it may take until
// a server that stands still is found silent.
func turnBound(s Settings) time.Duration { return max(s.SessionTimeout/2, serverPoll+serverPatience) }

// connectBound is how often a client of the recipes tries to connect in a fifth of a
// session timeout, or in 5 s, at most: see recipes.Connect. It is above what
// backoff from 10 ms to a sixth of the session timeout comes to.
const connectBound = 20
