package session

import "sync"

// State is the state of a client's connection to its ensemble. The recipes' ConnectionState
// documents each state.
type State int

const (
	StateConnected State = iota + 1
	StateSuspended
	StateReconnected
	StateLost
	StateClosed
)

// states reports the connection states of a client, in order, and remembers the last one
// that it reported.
type states struct {
	told func(State)

	mu    sync.Mutex
	state State // zero before the first session
}

// tell reports a state, unless it is not a change.
func (c *states) tell(state State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == StateClosed,
		c.state == state,                     // a session has ended that was reported lost before
		c.state == 0 && state == StateClosed: // there was no session
		return
	case c.state == 0:
		state = StateConnected // the first session
	}
	c.state = state
	c.told(state)
}
