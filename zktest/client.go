package zktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
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
	links    []*link // by the server's number - 1

	session int64 // guarded by the engine's mutex
}

func newClient(e *Ensemble, name string, number int) *Client {
	c := &Client{ensemble: e, name: name, ip: fmt.Sprintf("198.51.%d.%d", number/256, number%256)}
	for _, server := range e.engine.cluster.IDs() {
		c.links = append(c.links, &link{
			engine: e.engine, client: c, server: server, latency: e.config.links, changed: make(chan struct{}),
			rand: rand.New(rand.NewPCG(e.config.Seed, uint64(number)<<8|uint64(server))),
		})
	}
	return c
}

// DialContext opens a connection to one of [Ensemble.Servers]. It is what
// recipes.WithDialer takes.
func (c *Client) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	for i, l := range c.links {
		if addr == serverAddr(i+1) {
			return l.dial(ctx, network, addr)
		}
	}
	return nil, &net.OpError{Op: "dial", Net: network, Addr: address(addr), Err: fmt.Errorf("no server of this test: want one of %v", c.ensemble.Servers())}
}

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
	c.set(condition{drop: [2]bool{true, true}}, servers)
}

// CutRequests drops what the client says; what the servers say arrives.
func (c *Client) CutRequests(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(condition{drop: [2]bool{request: true}}, servers)
}

// CutReplies drops what the servers say: the client's requests are carried out, and it
// does not hear of it.
func (c *Client) CutReplies(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(condition{drop: [2]bool{reply: true}}, servers)
}

// Refuse closes the client's connections and refuses new ones.
func (c *Client) Refuse(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(condition{refuse: true}, servers)
}

// Delay lets everything take so much longer, each way.
func (c *Client) Delay(d time.Duration, servers ...int) {
	c.ensemble.tb.Helper()
	c.set(condition{delay: d}, servers)
}

// Heal makes the links whole.
func (c *Client) Heal(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(condition{}, servers)
}

// Disconnect closes the client's connections; it may open new ones at once.
func (c *Client) Disconnect() {
	c.ensemble.do(func() {
		for _, l := range c.links {
			l.disconnect()
		}
	})
}

func (c *Client) set(to condition, servers []int) {
	c.ensemble.tb.Helper()
	if len(servers) == 0 {
		servers = c.ensemble.engine.cluster.IDs()
	}
	for _, id := range servers {
		c.ensemble.check(id)
	}
	c.ensemble.do(func() {
		for _, id := range servers {
			c.links[id-1].set(to)
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
		newest := int64(0)
		for _, l := range c.links {
			for _, conn := range l.conns {
				if id := int64(conn.id); !conn.over && id > newest {
					newest, server = id, l.server
				}
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
