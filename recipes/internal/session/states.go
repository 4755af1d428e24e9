package session

import "sync"

// State is how a client stands with its ensemble. The recipes' ConnectionState
// says what each state means.
type State int

const (
	StateConnected State = iota + 1
	StateSuspended
	StateReconnected
	StateLost
	StateClosed
)

// states tells how a client stands with its ensemble, in order, and remembers what
// was told.
type states struct {
	told func(State)

	mu    sync.Mutex
	state State // zero before the first session
}

// tell tells of a change, unless it is none.
func (c *states) tell(state State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == StateClosed,
		c.state == state,                     // a session that was given up for lost has ended
		c.state == 0 && state == StateClosed: // there was none
		return
	case c.state == 0:
		state = StateConnected // a session begins it
	}
	c.state = state
	c.told(state)
}
