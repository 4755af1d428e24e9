package zktest

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/live"
)

// Ensemble is ZooKeeper servers that end with a test. Its methods may be called from
// any goroutine; those that fail the test, from the test's own.
type Ensemble struct {
	tb       testing.TB
	config   *config
	live     *live.Live
	inBubble bool
	byIP     map[string]*Client // guarded by live.Live.Do

	mu      sync.Mutex // guards what follows
	clients map[string]*Client
	tcp     listeners
}

// Start starts servers, which serve when it returns. They end with the test, and so do
// the connections of their clients: close clients before, as with defer. In a bubble of
// testing/synctest, tb has to be that of the bubble. A bad option fails the test.
func Start(tb testing.TB, options ...Option) *Ensemble {
	tb.Helper()
	c, err := newConfig(options)
	if err != nil {
		tb.Fatalf("zktest: %v", err)
	}
	e := &Ensemble{tb: tb, config: c, inBubble: inBubble(tb), byIP: map[string]*Client{}, clients: map[string]*Client{}}
	c.Server.Refuse = e.refuse
	if e.live, err = live.New(c.Config); err != nil {
		tb.Fatalf("zktest: %v", err)
	}
	if e.inBubble {
		e.live.Limit(c.limit, overdue)
	}
	e.live.Start()
	tb.Cleanup(func() {
		e.tcp.close()
		e.live.Stop()
		e.tcp.wait()
	})
	return e
}

// inBubble reports whether a test runs in a bubble of testing/synctest. There is no
// function that says so; a method that a bubble's test must not call does.
func inBubble(tb testing.TB) (in bool) {
	t, ok := tb.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return false // a benchmark or a fuzz target has no bubble
	}
	defer func() { in = recover() != nil }()
	t.Deadline()
	return false
}

// Servers are the servers' addresses, in the order of their numbers: for clients that
// are given a dialer ([Client.DialContext], [Client.DialTimeout]). Nothing listens there;
// [Client.Addrs] has addresses for other clients.
func (e *Ensemble) Servers() []string {
	var addrs []string
	for _, id := range e.live.Cluster.IDs() {
		addrs = append(addrs, serverAddr(id))
	}
	return addrs
}

// serverAddr is of a network that is set aside for documentation (RFC 5737), and an
// address, so that no client asks a name server.
func serverAddr(id int) string { return fmt.Sprintf("192.0.2.%d:2181", id) }

// Client returns the client of a name, which may be anything: its dialer is what tells
// the faults of one client from those of another.
func (e *Ensemble) Client(name string) *Client {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.clients[name]
	if c == nil {
		c = newClient(e, name, len(e.clients)+1)
		e.clients[name] = c
	}
	return c
}

// allClients are the clients, by name.
func (e *Ensemble) allClients() (all []*Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.clients)) {
		all = append(all, e.clients[name])
	}
	return all
}

// do changes something, as of now, unless the ensemble has ended.
func (e *Ensemble) do(change func()) { e.live.Do(change) }

// await waits until something holds, or fails the test.
func (e *Ensemble) await(what string, holds func() bool) {
	e.tb.Helper()
	limit := time.Minute + 100*e.config.Server.TickTime
	patience, end := context.WithTimeout(context.Background(), limit)
	defer end()
	if !e.live.Await(patience.Done(), holds) {
		e.tb.Fatalf("zktest: waited %v in vain: %s", limit, what)
	}
}

// overdue ends a test that has run for too long in its bubble.
func overdue() {
	debug.SetTraceback("all")
	panic("zktest: the test has run for too long in its bubble (see zktest.Limit); what does it wait for?")
}
