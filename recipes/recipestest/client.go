package recipestest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/internal/session"
	"github.com/zkverify/zkverify/recipes/internal/sleeper"
	"github.com/zkverify/zkverify/zktest"
)

const (
	tick           = 200 * time.Millisecond // of the servers
	sessionTimeout = 2 * time.Second        // unless an option says otherwise
	patience       = time.Minute            // for what a test waits for
)

// Client is a client of recipes on servers in memory, for code under test that makes and
// acquires its locks itself. It ends with the test. Its methods are called from the test's
// own goroutine, since they fail the test when they cannot do what they say.
type Client struct {
	*recipes.Client

	tb       testing.TB
	servers  *zktest.Ensemble
	link     *zktest.Client
	clock    *sleeper.Clock
	leases   *held
	outsider *recipes.Client // acts on nodes for the test; nil before the first use
	others   *int            // the clients of these servers
}

// NewClient connects a client to servers in memory. Both end with the test: in a bubble of
// testing/synctest, tb has to be that of the bubble. The options are those of
// recipes.Connect, apart from WithDialer and WithTLS; the session timeout is 2 s by default.
func NewClient(tb testing.TB, options ...recipes.Option) *Client {
	tb.Helper()
	return connect(tb, zktest.Start(tb, zktest.Tick(tick)), new(int), options)
}

// Another connects another client to the same servers, as another process does: a rival for
// the locks of the first.
func (c *Client) Another(options ...recipes.Option) *Client {
	c.tb.Helper()
	return connect(c.tb, c.servers, c.others, options)
}

func connect(tb testing.TB, servers *zktest.Ensemble, others *int, options []recipes.Option) *Client {
	tb.Helper()
	*others++
	c := &Client{
		tb: tb, servers: servers, link: servers.Client(fmt.Sprintf("client-%d", *others)),
		clock: new(sleeper.Clock), leases: newHeld(), others: others,
	}
	c.Client = c.open(c.link, append([]recipes.Option{recipes.WithObserver(c.leases.observer())}, options...))
	return c
}

// open connects a client that ends before its servers do.
func (c *Client) open(link *zktest.Client, options []recipes.Option) *recipes.Client {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all := append([]recipes.Option{recipes.WithSessionTimeout(sessionTimeout), recipes.WithServerTick(tick)}, options...)
	client, err := recipes.Connect(session.WithClock(ctx, c.clock), c.servers.Servers(), append(all, recipes.WithDialer(link.DialContext))...)
	if err != nil {
		c.tb.Fatalf("recipestest: %v", err)
	}
	c.tb.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// Servers are the servers that the client is connected to, for faults of servers and for a
// look at the nodes.
func (c *Client) Servers() *zktest.Ensemble { return c.servers }

// Link is the client's way to the servers, for faults of the network.
func (c *Client) Link() *zktest.Client { return c.link }

// Lease waits until the client holds the lock at a path, and returns its lease, to be lost
// on purpose; of several leases, as of a semaphore, the oldest. For a re-entry it is the
// outermost lease, for an election that of the term, and for one lock of a MultiLock that
// lock's: to lose it is to lose them all. A lock that is not held within a minute fails the
// test.
func (c *Client) Lease(path string) *Lease {
	c.tb.Helper()
	var lease *recipes.Lease
	if !c.leases.await(func() bool {
		lease = c.leases.at(path)
		return lease != nil
	}) {
		c.tb.Fatalf("recipestest: the client does not hold %s after %v; it holds %v", path, patience, c.leases.paths())
	}
	return &Lease{Lease: lease, client: c}
}
