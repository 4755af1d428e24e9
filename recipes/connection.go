package recipes

import "github.com/zkverify/zkverify/recipes/internal/session"

// ConnectionState is the state of a client's connection to its ensemble: those of Curator's
// ConnectionStateListener, with ConnClosed and without READ_ONLY, since this client never asks a
// server that has lost its quorum for a read-only session.
type ConnectionState int

// The states of a connection. The first is always ConnConnected.
const (
	// ConnConnected: the client has its first session. Told once.
	ConnConnected ConnectionState = iota + 1
	// ConnSuspended: the link to the server is down, or the server does not reach its leader. As
	// far as is known, the session and its nodes still exist. Followed by ConnReconnected or
	// ConnLost.
	ConnSuspended
	// ConnReconnected: the client can be used again: after ConnSuspended in the same session, after
	// ConnLost usually in a new one, but in the same if the servers had not ended it after all:
	// compare Client.SessionID.
	ConnReconnected
	// ConnLost: the session has ended, or may have. Either the servers said so, or a suspension has
	// lasted until a session timeout (less a margin of a twentieth) after the last request that a
	// server answered, or until the deadline of the session's leases. Do not rely on the session's
	// ephemeral nodes and watches. Followed by ConnReconnected. To guard the resource that a lock
	// protects use Lease.Lost and Lease.Valid, which are stricter: they depend on what the leader
	// has certainly heard.
	ConnLost
	// ConnClosed: Close was called. Told once, as the last state, if any state was told before.
	ConnClosed
)

// String returns the state's name in lower case.
func (s ConnectionState) String() string {
	switch s {
	case ConnConnected:
		return "connected"
	case ConnSuspended:
		return "suspended"
	case ConnReconnected:
		return "reconnected"
	case ConnLost:
		return "lost"
	case ConnClosed:
		return "closed"
	}
	return "unknown"
}

// connectionStates maps the states that the sessions report to the public ones.
var connectionStates = map[session.State]ConnectionState{
	session.StateConnected:   ConnConnected,
	session.StateSuspended:   ConnSuspended,
	session.StateReconnected: ConnReconnected,
	session.StateLost:        ConnLost,
	session.StateClosed:      ConnClosed,
}
