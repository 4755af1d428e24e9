package workload

import (
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// shares reports whether several clients can share one client of the target.
func (c Config) shares() bool {
	t, ok := c.Target.(lock.Concurrent)
	return ok && t.Concurrent() && c.Workers.N == 0
}

// pairs returns the number of pairs of clients that share a session.
func (c Config) pairs() int {
	switch {
	case !c.shares() || c.Pairs < 0:
		return 0
	case c.Pairs == 0 && len(c.Recipes) == 1 && c.Recipes[0] == histories.Handoff:
		return c.Clients / 2 // a client that is alone hands it to no other
	case c.Pairs == 0:
		return c.Clients / 5
	}
	return min(c.Pairs, c.Clients/2)
}

// pairUp makes the clients of a pair share an application. The two are half of all clients
// apart, so that in a run of default size both are at home with the same lock.
func (r *run) pairUp() {
	if r.cfg.shares() && r.cfg.Sessions > 0 {
		for i := r.cfg.Sessions; i < len(r.clients); i++ {
			r.clients[i].Joins(r.clients[i%r.cfg.Sessions])
		}
		return
	}
	half := len(r.clients) / 2
	for i := range r.cfg.pairs() {
		r.clients[i+half].Joins(r.clients[i])
	}
}
