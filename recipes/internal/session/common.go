package session

import (
	"context"
	"sync/atomic"
)

// common holds the state that all sessions of one client share.
type common struct {
	cfg      Config
	pace     *pace
	failures failures
	denials  denials
	states   states
	least    atomic.Int64    // the servers' minSessionTimeout; 0: not known yet
	life     context.Context // ends when the client is closed

	demandsAuth  atomic.Bool // a server has refused a client that had not authenticated
	noContainers atomic.Bool // the servers have no container nodes
}
