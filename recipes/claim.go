package recipes

// claim is what a lease stands on: nodes of one session.
type claim struct {
	s       *session
	nodes   []string // paths; the first is the lock node
	token   Token
	permits int

	// release deletes the nodes, in order or because the lease is lost, and
	// returns when they or the session are gone: with zk.ErrNoNode when they had
	// been gone before. It is called once, from a goroutine of the session.
	release func(lost bool) error

	data  []byte // of the lock node, to be put back after a revocation
	place *contender
}

// claim is what a lease of the contender stands on.
func (c *contender) claim() claim {
	return claim{
		s: c.s, nodes: []string{c.path()}, token: c.token, permits: 1, data: c.data, place: c,
		release: func(bool) error {
			c.leaving()
			return c.s.removeHere(c.path(), c.gone)
		},
	}
}
