package client

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/workload/lock"
)

// application groups the clients of a run that share one client of the target, and with it a
// session and its links: the goroutines of one application. Most clients are alone in theirs.
// Those that are not contend with each other too, and crash together.
type application struct {
	members []*Client          // set before the run
	Links   map[int]links.Link // by server
	servers []string           // the links' addresses, in the order to try them
	ids     map[string]int     // server by address
	process *seeded.Process    // of its goroutines

	// opening has room for the member that opens. A mutex that a goroutine waits for would stop
	// the clock of a bubble of testing/synctest.
	opening chan struct{}

	endEarly atomic.Bool // the target's client gives up its locks when it is cut off

	mu     sync.Mutex
	target lock.Client // nil between a crash and the next open
	host   host
	absent context.CancelFunc // ends the presence goroutine
	opens  []host             // of the client, and of those before it
	down   chan struct{}      // after Kill; Start closes it
}

func newApplication(c *Client) *application {
	return &application{members: []*Client{c}, Links: make(map[int]links.Link), ids: make(map[string]int), opening: make(chan struct{}, 1), process: seeded.NewProcess()}
}

// Joins makes the client a member of another one's application.
func (c *Client) Joins(other *Client) {
	c.app = other.app
	other.app.members = append(other.app.members, c)
}

// Siblings returns the other clients of its application.
func (c *Client) Siblings() (all []*Client) {
	for _, other := range c.app.members {
		if other != c {
			all = append(all, other)
		}
	}
	return all
}

// ApplicationsOf returns the applications of clients, each once.
func ApplicationsOf(clients []*Client) (all []*application) {
	for _, c := range clients {
		if c.app.members[0] == c {
			all = append(all, c.app)
		}
	}
	return all
}

// First returns the index of the member that represents the application.
func (a *application) First() int { return a.members[0].Index }

// Link opens the application's links, one to each server. Applications start at different
// servers, so that a server's fault hits some of them. The name of the run makes the names of
// its links unique.
func (a *application) Link(ctx context.Context, run string, servers []ensemble.Server, network links.Network) error {
	c := a.members[0]
	for i := range servers {
		s := servers[(c.Index+i)%len(servers)]
		l, err := network.Link(ctx, fmt.Sprintf("%s-client%d-server%d", run, c.Index, s.ID), s.Addr)
		if err != nil {
			return err
		}
		a.Links[s.ID] = l
		a.servers = append(a.servers, l.Addr())
		a.ids[l.Addr()] = s.ID
	}
	return nil
}

// Current returns the client of the target, nil if there is none.
func (a *application) Current() (lock.Client, host) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.target, a.host
}

// begun records that another client of the target is being opened.
func (a *application) begun(h host) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opens = append(a.opens, h)
}

// choices draws the options that the next client of the target takes.
func (a *application) choices() lock.Choices {
	c := a.members[0]
	a.mu.Lock()
	n := len(a.opens)
	a.mu.Unlock()
	r := seeded.Rand(uint64(c.Run.Seed), uint64(c.Index)+uint64(n)<<16+1<<34)
	takes := func() bool { return r.Float64() < c.Run.Options }
	all := seeded.Rand(uint64(c.Run.Seed), 1<<35) // for all clients of the run
	return lock.Choices{Namespace: takes(), EndEarly: takes(), Rule: takes(), Do: takes(), Selector: all.Float64() < c.Run.Options}
}

// opened puts a client of the target into use. It reports false when the application has been
// killed since the opening began.
func (a *application) opened(target lock.Client, h host, absent context.CancelFunc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.down != nil {
		return false
	}
	a.target, a.host, a.absent = target, h, absent
	return true
}

// vacate takes a client of the target out of use. It reports false when another
// client has done so before.
func (a *application) vacate(target lock.Client) (h host, absent context.CancelFunc, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if target == nil || a.target != target {
		return nil, nil, false
	}
	a.target = nil
	return a.host, a.absent, true
}

// crash ends the client of the target as the death of its process would, and records the crash
// of the members whom it surprises: all except but. The network goes first, so that no request
// reaches a server any more.
func (a *application) crash(target lock.Client, but *Client) {
	h, absent, first := a.vacate(target)
	if !first {
		return // it has crashed with another, or the run has torn it out already
	}
	h.Tear()
	for _, c := range a.members {
		if c != but {
			c.bury(target, h)
		}
	}
	absent()
	a.process.Within(func() { a.members[0].Background.Go(target.Crash) })
}

// suspended implements lock.Env.Suspended.
func (a *application) suspended(token histories.Token, yes bool) {
	for _, c := range a.members {
		c.LinkChanged(token, yes)
	}
}

// Connects returns the connection counts of each client of the target that the application has
// had, one after the other.
func (a *application) Connects() (all []histories.Connects) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.opens {
		all = append(all, h.Connects())
	}
	return all
}

// indexes returns the members' indexes, nil for an application of one client.
func (a *application) indexes() (all []int) {
	if len(a.members) == 1 {
		return nil
	}
	for _, c := range a.members {
		all = append(all, c.Index)
	}
	slices.Sort(all)
	return all
}
