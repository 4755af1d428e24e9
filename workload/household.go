package workload

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// household is the clients of a run that share one client of the target, and with
// it a session and its links: the goroutines of one application. Most clients are
// alone in theirs. Those who are not contend with each other too, and crash
// together.
type household struct {
	members []*client          // set before the run
	links   map[int]links.Link // by server
	servers []string           // the links' addresses, in the order to try them
	ids     map[string]int     // server by address

	opening sync.Mutex // one of the members opens at a time

	mu     sync.Mutex
	target lock.Client // nil between a crash and the next open
	wire   clientNetwork
	absent context.CancelFunc // ends the presence goroutine
	opens  []clientNetwork    // of the client, and of those before it
}

func newHousehold(c *client) *household {
	return &household{members: []*client{c}, links: make(map[int]links.Link), ids: make(map[string]int)}
}

// shares reports whether clients can share one of the target.
func (c Config) shares() bool {
	t, ok := c.Target.(lock.Concurrent)
	return ok && t.Concurrent() && c.Workers.N == 0
}

// pairs is how many pairs of clients share a session.
func (c Config) pairs() int {
	switch {
	case !c.shares() || c.Pairs < 0:
		return 0
	case c.Pairs == 0 && len(c.Recipes) == 1 && c.Recipes[0] == histories.Handoff:
		return c.Clients / 2 // whoever is alone hands it to nobody
	case c.Pairs == 0:
		return c.Clients / 5
	}
	return min(c.Pairs, c.Clients/2)
}

// pairUp makes households of pairs. Who shares one is half of all clients apart, so
// that in a run of default size both are at home with the same lock.
func (r *run) pairUp() {
	if r.cfg.shares() && r.cfg.Sessions > 0 {
		for i := r.cfg.Sessions; i < len(r.clients); i++ {
			r.clients[i].joins(r.clients[i%r.cfg.Sessions])
		}
		return
	}
	half := len(r.clients) / 2
	for i := range r.cfg.pairs() {
		r.clients[i+half].joins(r.clients[i])
	}
}

// joins makes the client a member of another one's household.
func (c *client) joins(host *client) {
	c.home = host.home
	host.home.members = append(host.home.members, c)
}

// households returns those of the run, each once.
func (r *run) households() (all []*household) {
	for _, c := range r.clients {
		if c.home.members[0] == c {
			all = append(all, c.home)
		}
	}
	return all
}

// link opens the household's links, one to each server. Households start at
// different servers, so that a server's fault hits some of them.
func (h *household) link(ctx context.Context) error {
	c := h.members[0]
	servers := c.run.cfg.Ensemble.Servers()
	for i := range servers {
		s := servers[(c.index+i)%len(servers)]
		l, err := c.run.cfg.Network.Link(ctx, fmt.Sprintf("%s-client%d-server%d", c.run.name, c.index, s.ID), s.Addr)
		if err != nil {
			return err
		}
		h.links[s.ID] = l
		h.servers = append(h.servers, l.Addr())
		h.ids[l.Addr()] = s.ID
	}
	return nil
}

// current returns the client of the target, nil if there is none.
func (h *household) current() (lock.Client, clientNetwork) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.target, h.wire
}

func (h *household) opened(target lock.Client, w clientNetwork, absent context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.target, h.wire, h.absent = target, w, absent
}

// vacate takes a client of the target out of use. It reports false when somebody
// has done so before.
func (h *household) vacate(target lock.Client) (w clientNetwork, absent context.CancelFunc, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if target == nil || h.target != target {
		return nil, nil, false
	}
	h.target = nil
	return h.wire, h.absent, true
}

// crash ends the client of the target as its death would, and puts on record the
// crash of those whom it takes by surprise: all but one. The network goes first, so
// that nothing can be said any more.
func (h *household) crash(target lock.Client, but *client) {
	w, absent, first := h.vacate(target)
	if !first {
		return // it has crashed with another, or the run has torn it out already
	}
	w.tear()
	for _, c := range h.members {
		if c != but {
			c.die(target)
		}
	}
	absent()
	h.members[0].wg.Go(target.Crash)
}

// suspended is Env.Suspended.
func (h *household) suspended(token histories.Token, yes bool) {
	for _, c := range h.members {
		c.suspended(token, yes)
	}
}

// indexes returns the members' indexes, nil of one who is alone.
func (h *household) indexes() (all []int) {
	if len(h.members) == 1 {
		return nil
	}
	for _, c := range h.members {
		all = append(all, c.index)
	}
	slices.Sort(all)
	return all
}
