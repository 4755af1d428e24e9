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

// Ensemble is a set of ZooKeeper servers that end with a test. Its methods may be called from any
// goroutine, except that methods that can fail the test must be called from the test's own.
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

// Start starts servers, and returns when they serve. They end with the test, and so do the
// connections of their clients: close clients before that, with defer for instance. In a bubble
// of testing/synctest, tb must be the tb of the bubble. A bad option fails the test.
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

// inBubble reports whether a test runs in a bubble of testing/synctest. No function reports this,
// but Deadline panics in a bubble.
func inBubble(tb testing.TB) (in bool) {
	t, ok := tb.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return false // a benchmark or a fuzz target has no bubble
	}
	defer func() { in = recover() != nil }()
	t.Deadline()
	return false
}

// Servers returns the servers' addresses, in the order of their numbers, for clients with a
// dialer ([Client.DialContext], [Client.DialTimeout]). No server listens on them; [Client.Addrs]
// returns addresses for other clients.
func (e *Ensemble) Servers() []string {
	var addrs []string
	for _, id := range e.live.Cluster.IDs() {
		addrs = append(addrs, serverAddr(id))
	}
	return addrs
}

// serverAddr returns an address in a network that is reserved for documentation (RFC 5737). It is
// not a name, so no client asks a name server.
func serverAddr(id int) string { return fmt.Sprintf("192.0.2.%d:2181", id) }

// Client returns the client with a name; the first call with any name creates it. Each client has
// a dialer of its own, so faults apply to one client only.
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

// allClients returns the clients, in the order of their names.
func (e *Ensemble) allClients() (all []*Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.clients)) {
		all = append(all, e.clients[name])
	}
	return all
}

// do calls change at the present time of the servers, unless the ensemble has ended.
func (e *Ensemble) do(change func()) { e.live.Do(change) }

// await waits until the condition holds is true. If that takes too long, it fails the test.
func (e *Ensemble) await(what string, holds func() bool) {
	e.tb.Helper()
	limit := time.Minute + 100*e.config.Server.TickTime
	patience, end := context.WithTimeout(context.Background(), limit)
	defer end()
	if !e.live.Await(patience.Done(), holds) {
		e.tb.Fatalf("zktest: waited %v in vain: %s", limit, what)
	}
}

// overdue ends the process because a test has run for too long in its bubble.
func overdue() {
	debug.SetTraceback("all")
	panic("zktest: the test has run for too long in its bubble (see zktest.Limit); what does it wait for?")
}
