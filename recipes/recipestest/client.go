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
	patience       = time.Minute            // limit of each wait of a test
)

// Client is a client of recipes on servers in memory, for code under test that makes and acquires
// its locks itself. It ends with the test. Call its methods from the test's own goroutine, since
// they fail the test when they do not succeed.
type Client struct {
	*recipes.Client

	tb       testing.TB
	servers  *zktest.Ensemble
	link     *zktest.Client
	clock    *sleeper.Clock
	leases   *held
	outsider *recipes.Client // changes nodes for the test; nil before the first use
	others   *int            // number of the clients of these servers
}

// NewClient connects a client to servers in memory. Both end with the test: in a bubble of
// testing/synctest, tb must be the tb of the bubble. The options are those of recipes.Connect,
// apart from WithDialer and WithTLS; the session timeout is 2 s by default.
func NewClient(tb testing.TB, options ...recipes.Option) *Client {
	tb.Helper()
	return connect(tb, zktest.Start(tb, zktest.Tick(tick)), new(int), options)
}

// Another connects another client to the same servers, as another process does. It can compete
// for the locks of the first.
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

// open connects a client that is closed before its servers end.
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

// Servers returns the servers that the client is connected to, to inject faults of servers and to
// inspect the nodes.
func (c *Client) Servers() *zktest.Ensemble { return c.servers }

// Link returns the client's links to the servers, to inject faults of the network.
func (c *Client) Link() *zktest.Client { return c.link }

// Lease waits until the client holds the lock at a path, and returns its lease, which the test
// can lose on purpose. Of several leases, as of a semaphore, it returns the oldest. For a
// re-entry it is the outermost lease, for an election the term's lease, and for one lock of a
// MultiLock that lock's lease: its loss loses all of them. If the client does not hold the lock
// within a minute, the test fails.
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
