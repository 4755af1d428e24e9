package simulated

import (
	"net"
	"sync"

	"github.com/zkverify/zkverify/ensemble/model"
)

// conn is a client's TCP connection. Its reader and its writer end when either side
// closes it.
type conn struct {
	server *server
	id     model.ConnID
	tcp    net.Conn
	wake   chan struct{} // capacity 1: there is something to write, or nothing more comes

	mu   sync.Mutex // guards the fields below
	out  []byte
	last bool // nothing more comes
}

// read passes the client's data to its server.
func (c *conn) read() {
	buffer := make([]byte, 8<<10)
	l := c.server.ensemble.live
	for {
		n, err := c.tcp.Read(buffer)
		if n > 0 {
			data := append([]byte(nil), buffer[:n]...)
			l.Do(func() { l.Receive(c.server.myid, c.id, data) })
		}
		if err != nil {
			l.Do(func() { l.Closed(c.server.myid, c.id) })
			c.Hangup()
			return
		}
	}
}

// Reply implements live.End: it queues data to be written.
func (c *conn) Reply(data []byte) {
	c.mu.Lock()
	c.out = append(c.out, data...)
	c.mu.Unlock()
	c.wakeUp()
}

// Hangup implements live.End: it closes the connection once all queued data is written.
func (c *conn) Hangup() {
	c.mu.Lock()
	c.last = true
	c.mu.Unlock()
	c.wakeUp()
}

func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write passes the server's data to the client.
func (c *conn) write() {
	for range c.wake {
		c.mu.Lock()
		out, last := c.out, c.last
		c.out = nil
		c.mu.Unlock()
		if _, err := c.tcp.Write(out); err != nil || last {
			_ = c.tcp.Close()
			if last {
				return
			}
		}
	}
}
