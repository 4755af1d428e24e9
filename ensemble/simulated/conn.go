package simulated

import (
	"net"

	"github.com/zkverify/zkverify/ensemble/model"
)

// conn is a client's connection. Its reader and its writer end when it is closed, by
// either side.
type conn struct {
	server *server
	id     model.ConnID
	tcp    net.Conn
	wake   chan struct{} // capacity 1: there is something to write, or nothing more comes

	// guarded by the ensemble's mutex
	out  []byte
	last bool // nothing more comes
}

// read carries what the client says to its server.
func (c *conn) read() {
	buffer := make([]byte, 8<<10)
	for {
		n, err := c.tcp.Read(buffer)
		e := c.server.ensemble
		if n > 0 {
			data := append([]byte(nil), buffer[:n]...)
			e.do(func() {
				if c.server.conns[c.id] == c {
					e.cluster.Receive(c.server.myid, c.id, data)
				}
			})
		}
		if err != nil {
			e.do(func() {
				if c.server.conns[c.id] == c {
					e.cluster.Closed(c.server.myid, c.id)
					c.hangUp()
				}
			})
			return
		}
	}
}

// send has data written. The ensemble is locked.
func (c *conn) send(data []byte) {
	c.out = append(c.out, data...)
	c.wakeUp()
}

// hangUp closes the connection once everything is written. The ensemble is locked.
func (c *conn) hangUp() {
	c.last = true
	delete(c.server.conns, c.id)
	c.wakeUp()
}

func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write carries what the server says to the client.
func (c *conn) write() {
	for range c.wake {
		c.server.ensemble.mu.Lock()
		out, last := c.out, c.last
		c.out = nil
		c.server.ensemble.mu.Unlock()
		if _, err := c.tcp.Write(out); err != nil || last {
			_ = c.tcp.Close()
			if last {
				return
			}
		}
	}
}
