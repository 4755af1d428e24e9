package cluster

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// bench is a cluster and the clients of a test.
type bench struct {
	*testing.T
	*Cluster
	clients map[model.ConnID]*client
	// requests counts those of all clients: a session's numbers never repeat, or a server would
	// take the commit of one request for that of another
	requests int32
}

// client is a connection of a test, with the data that it has received.
type client struct {
	bench   *bench
	server  int
	conn    model.ConnID
	session wire.ConnectResponse
	buffer  []byte
	frames  [][]byte
	closed  bool
}

func newBench(t *testing.T, config Config) *bench {
	b := &bench{T: t, clients: map[model.ConnID]*client{}}
	c, err := New(config, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Cluster = c
	return b
}

func (b *bench) Reply(_ int, conn model.ConnID, data []byte) {
	c := b.clients[conn]
	for c.buffer = append(c.buffer, data...); len(c.buffer) >= 4; {
		n := int(binary.BigEndian.Uint32(c.buffer))
		if len(c.buffer) < 4+n {
			return
		}
		c.frames = append(c.frames, c.buffer[4:4+n])
		c.buffer = c.buffer[4+n:]
	}
}

func (b *bench) Hangup(_ int, conn model.ConnID) { b.clients[conn].closed = true }

// wait lets time pass until holds returns true, at most a minute.
func (b *bench) wait(what string, holds func() bool) {
	b.Helper()
	for end := b.Now() + time.Minute; !holds(); {
		if b.Due() > end {
			b.Fatalf("at %v, still waiting for: %s", b.Now(), what)
		}
		b.Advance(b.Due())
	}
}

// leader waits for a leader that all others follow, and returns it.
func (b *bench) leader() (id int) {
	b.Helper()
	b.wait("all servers serve", func() bool {
		leaders, followers := 0, 0
		for _, s := range b.IDs() {
			switch b.Mode(s) {
			case "leader":
				id = s
				leaders++
			case "follower":
				followers++
			}
		}
		return leaders == 1 && leaders+followers == len(b.IDs())
	})
	return id
}

// follower returns a server that follows.
func (b *bench) follower() int {
	for _, s := range b.IDs() {
		if b.Mode(s) == "follower" {
			return s
		}
	}
	b.Fatal("no server follows")
	return 0
}

// dial opens a connection and begins a session, or goes on with one.
func (b *bench) dial(server int, timeout time.Duration, session wire.ConnectResponse) *client {
	b.Helper()
	conn, ok := b.Accept(server, "127.0.0.1")
	if !ok {
		b.Fatalf("server %d does not listen", server)
	}
	c := &client{bench: b, server: server, conn: conn}
	b.clients[conn] = c
	b.Receive(server, conn, wire.Frame(&wire.ConnectRequest{
		Timeout: int32(timeout.Milliseconds()), Session: session.Session, Password: session.Password, HasReadOnly: true,
	}))
	b.wait("an answer to the connect request", func() bool { return c.closed || len(c.frames) > 0 })
	if len(c.frames) > 0 {
		if _, err := wire.Decode(c.frames[0], &c.session); err != nil {
			b.Fatal(err)
		}
		c.frames = c.frames[1:]
	}
	return c
}

// say sends a request.
func (c *client) say(op wire.Op, body wire.Record) (xid int32) {
	c.bench.requests++
	xid = c.bench.requests
	if op == wire.Ping {
		xid = wire.PingXid
	}
	h := &wire.RequestHeader{Xid: xid, Op: op}
	if body == nil {
		c.bench.Receive(c.server, c.conn, wire.Frame(h))
	} else {
		c.bench.Receive(c.server, c.conn, wire.Frame(h, body))
	}
	return xid
}

// ask sends a request and waits for its answer; earlier frames stay in the client.
func (c *client) ask(op wire.Op, body wire.Record) (wire.ReplyHeader, wire.Record) {
	c.bench.Helper()
	xid := c.say(op, body)
	reply := wire.NewReply(op)
	var h wire.ReplyHeader
	c.bench.wait("an answer", func() bool {
		for i, f := range c.frames {
			rest, err := wire.Decode(f, &h)
			if err != nil {
				c.bench.Fatal(err)
			}
			if h.Xid != xid {
				continue
			}
			c.frames = append(c.frames[:i:i], c.frames[i+1:]...)
			if h.Err != wire.OK {
				reply = nil
			}
			if reply != nil {
				if _, err := wire.Decode(rest, reply); err != nil {
					c.bench.Fatal(err)
				}
			}
			return true
		}
		if c.closed {
			h.Err = wire.ConnectionLoss
		}
		return c.closed
	})
	return h, reply
}

var open = []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}

func (c *client) create(path string, flags int32) wire.Code {
	c.bench.Helper()
	h, _ := c.ask(wire.Create, &wire.CreateRequest{Path: path, ACL: open, Flags: flags})
	return h.Err
}

func (c *client) exists(path string) wire.Code {
	c.bench.Helper()
	if h, _ := c.ask(wire.Sync, &wire.Path{Path: "/"}); h.Err != wire.OK {
		return h.Err
	}
	h, _ := c.ask(wire.Exists, &wire.PathWatch{Path: path})
	return h.Err
}
