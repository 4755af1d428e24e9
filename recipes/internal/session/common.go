package session

import "context"

// common is what the sessions of one client have in common.
type common struct {
	cfg      Config
	pace     *pace
	failures failures
	states   states
	life     context.Context // ends when the client is closed
}
