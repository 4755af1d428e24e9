package zktest

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/live"
)

// Client is a client's way to the servers: a link to each, which can be cut. What it
// opens is an ordinary connection; the client itself is whatever speaks ZooKeeper's
// protocol.
//
// A link that is cut drops what is said, as a network does that swallows packets: the
// client notices nothing until it waits for an answer too long. Connections that have
// lost something are closed when the link is healed. Faults of links replace those
// before; without servers they are of the links to all servers.
type Client struct {
	ensemble *Ensemble
	name, ip string
	links    []*live.Link // by the server's number - 1

	// guarded by live.Live.Do
	session int64
	answers map[Operation]int // see Answer
}

func newClient(e *Ensemble, name string, number int) *Client {
	c := &Client{ensemble: e, name: name, ip: fmt.Sprintf("198.51.%d.%d", number/256, number%256)}
	for _, server := range e.live.Cluster.IDs() {
		c.links = append(c.links, e.live.NewLink(live.LinkConfig{
			Server: server, IP: c.ip, Latency: e.config.links, Spread: 1, Seed: e.config.Seed + uint64(number)<<8,
			Granted: func(session int64) { c.session = session },
		}))
	}
	e.do(func() { e.byIP[c.ip] = c })
	return c
}

// DialContext opens a connection to one of [Ensemble.Servers]. It is what
// recipes.WithDialer takes.
func (c *Client) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	for i, l := range c.links {
		if addr == serverAddr(i+1) {
			return l.Dial(ctx, network, addr)
		}
	}
	return nil, &net.OpError{Op: "dial", Net: network, Addr: unknown(addr), Err: fmt.Errorf("no server of this test: want one of %v", c.ensemble.Servers())}
}

// unknown is an address at which there is no server.
type unknown string

func (unknown) Network() string  { return "tcp" }
func (u unknown) String() string { return string(u) }

// DialTimeout does the same, for zk.WithDialer of go-zookeeper. A timeout of 0 is none.
func (c *Client) DialTimeout(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx := context.Background()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return c.DialContext(ctx, network, addr)
}

// Cut drops what the client and the servers say to each other.
func (c *Client) Cut(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{DropRequests: true, DropReplies: true}, servers)
}

// CutRequests drops what the client says; what the servers say arrives.
func (c *Client) CutRequests(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{DropRequests: true}, servers)
}

// CutReplies drops what the servers say: the client's requests are carried out, and it
// does not hear of it.
func (c *Client) CutReplies(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{DropReplies: true}, servers)
}

// Refuse closes the client's connections and refuses new ones.
func (c *Client) Refuse(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{Refuse: true}, servers)
}

// Delay lets everything take so much longer, each way.
func (c *Client) Delay(d time.Duration, servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{Latency: d}, servers)
}

// Heal makes the links whole.
func (c *Client) Heal(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{}, servers)
}

// Disconnect closes the client's connections; it may open new ones at once.
func (c *Client) Disconnect() {
	c.ensemble.do(func() {
		for _, l := range c.links {
			l.Disconnect()
		}
	})
}

func (c *Client) set(to cluster.Condition, servers []int) {
	c.ensemble.tb.Helper()
	if len(servers) == 0 {
		servers = c.ensemble.live.Cluster.IDs()
	}
	for _, id := range servers {
		c.ensemble.check(id)
	}
	c.ensemble.do(func() {
		for _, id := range servers {
			c.links[id-1].Set(to)
		}
	})
}

// Session is the session that the servers have last granted the client, or let go on; 0
// before the first.
func (c *Client) Session() (id int64) {
	c.ensemble.do(func() { id = c.session })
	return id
}

// Server is the server to which the client has its newest connection, 0 without one.
func (c *Client) Server() (server int) {
	c.ensemble.do(func() {
		newest := model.ConnID(0)
		for _, l := range c.links {
			if id := l.Newest(); id > newest {
				newest, server = id, l.Server()
			}
		}
	})
	return server
}

// Expire ends the client's session as [Ensemble.Expire] does.
func (c *Client) Expire() {
	c.ensemble.tb.Helper()
	session := c.Session()
	if session == 0 {
		c.ensemble.tb.Fatalf("zktest: client %q has no session", c.name)
	}
	c.ensemble.Expire(session)
}
