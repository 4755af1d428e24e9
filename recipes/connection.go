package recipes

import "github.com/zkverify/zkverify/recipes/internal/session"

// ConnectionState is how a client stands with its ensemble. The words are those
// of Curator's ConnectionStateListener, and ConnClosed. Curator's READ_ONLY is
// not here: this client never asks a server that has lost its quorum for a
// read-only session.
type ConnectionState int

// The states of a connection. The first is always ConnConnected.
const (
	// ConnConnected: the client has its first session. Told once.
	ConnConnected ConnectionState = iota + 1
	// ConnSuspended: the link to the server is down, or the server does not
	// reach its leader. The session and its nodes are still there, as far as is
	// known. Followed by ConnReconnected or ConnLost.
	ConnSuspended
	// ConnReconnected: the client can be used again. After ConnSuspended it has
	// the same session as before; after ConnLost as a rule a new one, but the
	// same one if the servers turn out not to have ended it: Client.SessionID
	// tells.
	ConnReconnected
	// ConnLost: the session has ended, or may have: the servers said so, or a
	// suspension has lasted until a session timeout (less a margin of a
	// twentieth) after the last request that a server answered, or until the
	// deadline of the session's leases. What the session made for itself,
	// ephemeral nodes and watches, is not to be relied on. Followed by
	// ConnReconnected.
	//
	// To guard what a lock protects use Lease.Lost and Lease.Valid: they go by
	// what the leader certainly knows of the session, which is stricter.
	ConnLost
	// ConnClosed: Close was called. Told once, after all others, if any state
	// was told.
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

// connectionStates are the states as the sessions tell of them.
var connectionStates = map[session.State]ConnectionState{
	session.StateConnected:   ConnConnected,
	session.StateSuspended:   ConnSuspended,
	session.StateReconnected: ConnReconnected,
	session.StateLost:        ConnLost,
	session.StateClosed:      ConnClosed,
}
