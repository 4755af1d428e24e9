package cluster

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/service"
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/internal/seeded"
)

// Config holds the options of a cluster. Its zero value is three servers of ZooKeeper
// 3.8.0.
type Config struct {
	Servers int // 3 if 0
	FirstID int // myid of the first, 1 if 0
	// Server is the configuration of each server; the cluster sets its ID and Servers.
	Server model.Config
	Seed   uint64
	// Reconnected is the model.Config.Reconnected of the last server.
	Reconnected time.Duration
	// Latency is the least time that a message between servers takes, and SyncTime the least time
	// that a write of the log to disk takes; each takes up to twice as long. 0 means no time.
	Latency, SyncTime time.Duration
}

// Clients receives the servers' output for their clients. Its methods must not call the
// cluster, except At and Now.
type Clients interface {
	// Reply receives bytes that a server sends on a connection.
	Reply(server int, conn model.ConnID, data []byte)
	// Hangup is called when a server has closed a connection, after its last Reply.
	Hangup(server int, conn model.ConnID)
}

// Printer is implemented by Clients that want the lines that the servers print.
type Printer interface {
	Print(server int, line string)
}

// Cluster is an ensemble of servers. It belongs to one goroutine at a time.
type Cluster struct {
	config  Config
	clients Clients
	rand    *rand.Rand
	now     time.Duration
	nodes   map[int]*node
	ids     []int   // of nodes, in order
	inOrder []*node // of ids
	links   map[[2]int]*Link
	events  events
	window  *window // nil while no message is held
	chosen  int
	conns   model.ConnID
	peers   model.PeerID
}

// New starts the servers at the instant 0.
func New(config Config, clients Clients) (*Cluster, error) {
	if config.Servers == 0 {
		config.Servers = 3
	}
	if config.FirstID == 0 {
		config.FirstID = 1
	}
	c := &Cluster{
		config: config, clients: clients, rand: seeded.Rand(config.Seed, 0),
		nodes: map[int]*node{}, links: map[[2]int]*Link{},
	}
	for i := range config.Servers {
		c.ids = append(c.ids, config.FirstID+i)
	}
	for _, from := range c.ids {
		for _, to := range c.ids {
			if from != to {
				c.links[[2]int{from, to}] = &Link{cluster: c, from: from, to: to, open: map[*stream]bool{}}
			}
		}
	}
	for _, id := range c.ids {
		c.nodes[id] = &node{cluster: c, id: id, disk: &tree.Disk{}}
		c.inOrder = append(c.inOrder, c.nodes[id])
		if err := c.nodes[id].start(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// IDs returns the servers' numbers, in order.
func (c *Cluster) IDs() []int { return c.ids }

// Now returns the instant that the cluster has reached.
func (c *Cluster) Now() time.Duration { return c.now }

// Mode returns "leader" or "follower", or "" for a server that does not serve.
func (c *Cluster) Mode(id int) string {
	if n := c.nodes[id]; n.running && !n.paused {
		return n.server.Mode()
	}
	return ""
}

// Running reports whether a server's process is alive, even if paused.
func (c *Cluster) Running(id int) bool { return c.nodes[id].running }

// Link returns the link that carries the connections that server from opens to server to.
func (c *Cluster) Link(from, to int) *Link { return c.links[[2]int{from, to}] }

// Due returns the instant of the next event if no method is called before.
func (c *Cluster) Due() time.Duration {
	at, ok := c.events.next()
	for _, n := range c.inOrder {
		if n.running && !n.paused {
			if due := n.due(); !ok || due < at {
				at, ok = due, true
			}
		}
	}
	return max(at, c.now)
}

// Advance carries out all events up to an instant, which is no earlier than the last.
func (c *Cluster) Advance(to time.Duration) {
	for {
		at := c.Due()
		if at > to {
			break
		}
		c.now = at
		if next, ok := c.events.next(); ok && next <= at {
			c.events.take()()
			continue
		}
		for _, n := range c.inOrder {
			if n.running && !n.paused && n.due() <= at {
				n.step(model.Wake{})
			}
		}
	}
	c.now = max(c.now, to)
}

// some returns a random time between d and twice d.
func (c *Cluster) some(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d + time.Duration(c.rand.Int64N(int64(d)+1))
}

// Accept opens a client's connection to a server. It returns false if the server's
// process does not run.
func (c *Cluster) Accept(server int, ip string) (model.ConnID, bool) {
	n := c.nodes[server]
	if !n.running {
		return 0, false
	}
	c.conns++
	n.clients = append(n.clients, c.conns)
	n.step(model.FromClient{Input: service.Accepted{Conn: c.conns, IP: ip}})
	return c.conns, true
}

// Receive passes bytes from a client to a server.
func (c *Cluster) Receive(server int, conn model.ConnID, data []byte) {
	c.nodes[server].step(model.FromClient{Input: service.Received{Conn: conn, Data: data}})
}

// Closed tells a server that a client has closed its connection, or that the connection
// broke.
func (c *Cluster) Closed(server int, conn model.ConnID) {
	c.nodes[server].forget(conn)
	c.nodes[server].step(model.FromClient{Input: service.Closed{Conn: conn}})
}

// Kill ends a server's process. A random part of the data that it had not synced to its
// disk survives.
func (c *Cluster) Kill(id int) {
	if n := c.nodes[id]; n.running {
		n.kill()
	}
}

// Restart starts a server again on its disk.
func (c *Cluster) Restart(id int) error {
	n := c.nodes[id]
	if n.running {
		return fmt.Errorf("server %d runs", id)
	}
	return n.start()
}

// Pause stops a server's process: its connections stay, and nothing is answered.
func (c *Cluster) Pause(id int) { c.nodes[id].paused = true }

// Resume lets it go on with the input that has come meanwhile.
func (c *Cluster) Resume(id int) { c.nodes[id].resume() }

// LastZxid returns the last transaction that a server has applied, as of its last life.
func (c *Cluster) LastZxid(id int) int64 { return c.nodes[id].server.LastZxid() }
