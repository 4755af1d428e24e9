package recipes

import "context"

// claim is what a lease stands on: nodes of one session.
type claim struct {
	s       *session
	nodes   []string // paths; the first is the lock node
	token   Token
	permits int

	// release deletes the nodes, in order or because the lease is lost. It
	// returns nil when they are gone, zk.ErrNoNode when they had been before,
	// and otherwise what ended the wait for it.
	release func(ctx context.Context, lost bool) error

	data  []byte // of the lock node, to be put back after a revocation
	place *contender
}

// claim is what a lease of the contender stands on.
func (c *contender) claim() claim {
	return claim{
		s: c.s, nodes: []string{c.path()}, token: c.token, permits: 1, data: c.data, place: c,
		release: func(ctx context.Context, _ bool) error { return c.leave(ctx) },
	}
}
