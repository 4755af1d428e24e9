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

// Client is a client's connection to the servers: a link to each of them, which can be cut. It
// opens ordinary connections; the client itself may be any code that speaks ZooKeeper's protocol.
//
// A link that is cut drops messages, as a network that loses packets does: the client notices the
// cut only when it has waited for an answer too long. When the link is healed, connections that
// have lost a message are closed. A fault of a link replaces the one before; without arguments a
// method applies to the links to all servers.
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

// DialContext opens a connection to one of [Ensemble.Servers]. Pass it to recipes.WithDialer.
func (c *Client) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	for i, l := range c.links {
		if addr == serverAddr(i+1) {
			return l.Dial(ctx, network, addr)
		}
	}
	return nil, &net.OpError{Op: "dial", Net: network, Addr: unknown(addr), Err: fmt.Errorf("no server of this test: want one of %v", c.ensemble.Servers())}
}

// unknown is an address that has no server.
type unknown string

func (unknown) Network() string  { return "tcp" }
func (u unknown) String() string { return string(u) }

// DialTimeout does the same, for zk.WithDialer of go-zookeeper. A timeout of 0 means no timeout.
func (c *Client) DialTimeout(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx := context.Background()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return c.DialContext(ctx, network, addr)
}

// Cut drops all messages between the client and the servers.
func (c *Client) Cut(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{DropRequests: true, DropReplies: true}, servers)
}

// CutRequests drops the client's messages; those of the servers arrive.
func (c *Client) CutRequests(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{DropRequests: true}, servers)
}

// CutReplies drops the servers' messages: they carry the client's requests out, and the client
// gets no answer.
func (c *Client) CutReplies(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{DropReplies: true}, servers)
}

// Refuse closes the client's connections and refuses new ones.
func (c *Client) Refuse(servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{Refuse: true}, servers)
}

// Delay makes every message take d longer, each way.
func (c *Client) Delay(d time.Duration, servers ...int) {
	c.ensemble.tb.Helper()
	c.set(cluster.Condition{Latency: d}, servers)
}

// Heal ends the faults of the links.
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

// Session returns the session that the servers have last granted or continued for the client, or
// 0 before the first.
func (c *Client) Session() (id int64) {
	c.ensemble.do(func() { id = c.session })
	return id
}

// Server returns the server of the client's newest connection, or 0 without one.
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
