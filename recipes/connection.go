package recipes

import (
	"sync"
	"time"
)

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
	// what the leader is known to have heard, which is stricter.
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

// connection remembers what the listeners were told. It is locked after a
// session.
type connection struct {
	mu    sync.Mutex
	state ConnectionState // zero before the first session
}

// tell posts a change to the listeners, which get the changes in order.
func (c *Client) tell(state ConnectionState) {
	c.connection.mu.Lock()
	defer c.connection.mu.Unlock()
	switch {
	case c.connection.state == ConnClosed,
		c.connection.state == state,                    // a session that was given up for lost has ended
		c.connection.state == 0 && state == ConnClosed: // there was none
		return
	case c.connection.state == 0:
		state = ConnConnected // a session begins it
	}
	c.connection.state = state
	for _, f := range c.cfg.listeners {
		c.notify.post(func() { f(state) })
	}
}

// introduce tells the listeners of a session that can be used. Of others they
// hear nothing.
func (s *session) introduce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.introduced = true
	s.client.tell(ConnReconnected)
	if s.suspended {
		s.tellSuspendedLocked(true)
	}
}

// tellSuspendedLocked tells the listeners that the session's suspension has begun
// or ended.
func (s *session) tellSuspendedLocked(suspended bool) {
	switch {
	case !s.introduced:
	case suspended:
		s.client.tell(ConnSuspended)
		s.lostBy = time.Time{}
		if len(s.waiting) > 0 { // then the heartbeat has kept the evidence fresh
			s.lostBy = s.deadlineLocked()
		}
		s.giveUp = time.AfterFunc(time.Until(s.lostAtLocked()), s.giveUpIfDue)
	default:
		s.giveUp.Stop()
		s.client.tell(ConnReconnected)
	}
}

// lostAtLocked is when a suspended session counts as lost.
func (s *session) lostAtLocked() time.Time {
	at := s.heard.Add(s.timeout - margin(s.timeout))
	if !s.lostBy.IsZero() && s.lostBy.Before(at) {
		return s.lostBy
	}
	return at
}

// giveUpIfDue runs when a suspended session may be lost. It does not end the
// session: if the servers have not, its contenders keep their places.
func (s *session) giveUpIfDue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || !s.suspended {
		return
	}
	if left := time.Until(s.lostAtLocked()); left > 0 {
		s.giveUp.Reset(left) // a server without a leader goes on answering
		return
	}
	s.client.tell(ConnLost)
}

func (s *session) tellEndedLocked() {
	if s.giveUp != nil {
		s.giveUp.Stop()
	}
	if s.introduced && s.client.quit.Err() == nil { // else Close ended it
		s.client.tell(ConnLost)
	}
}
