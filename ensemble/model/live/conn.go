package live

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// conn is a client's end of a connection in memory. A write never waits. No mutex is
// held while a read waits, or a bubble's clock would stand still.
type conn struct {
	link *Link
	addr string // the server's, as it was dialed

	// guarded by Live's mutex
	id      model.ConnID // 0 before the server has accepted it
	over    bool         // ended at the server
	lost    [2]bool      // data was lost, by direction
	backlog cluster.Backlog
	arrives [2]time.Duration
	arrived [2]int // bytes that have reached the other end, by direction
	said    int    // bytes of the server, since the link's condition was set
	head    []byte // the server's first bytes, until it has answered the connect request
	shaken  bool   // the server has answered it

	wake chan struct{} // capacity 1: a reader may go on

	mu       sync.Mutex // guards the fields below
	in       []byte
	err      error // the error behind in; nil while more may come
	closed   bool  // by the client
	deadline time.Time
	writeBy  time.Time
	timer    *time.Timer // of deadline
}

func newConn(l *Link, addr string) *conn {
	return &conn{link: l, addr: addr, wake: make(chan struct{}, 1)}
}

// accept opens the connection at the server. It returns false if the server's process
// does not run.
func (c *conn) accept() bool {
	id, ok := c.link.live.Accept(c.link.server, c.link.ip, c)
	if ok {
		c.id = id
		c.link.conns = append(c.link.conns, c)
	}
	return ok
}

// carry lets a message of the given size arrive at the other end, behind the earlier
// messages, once the link does not hold it back, and unless the link drops it.
func (c *conn) carry(w way, size int, arrive func()) {
	c.backlog.Send(c.link.condition, int(w), func() { c.send(w, size, arrive) })
}

// send carries a message that the link does not hold back.
func (c *conn) send(w way, size int, arrive func()) {
	l := c.link
	if c.lost[w] || l.drops(w) {
		c.lost[w] = true
		return
	}
	c.arrives[w] = max(c.arrives[w], l.live.Cluster.Now()+l.trip(w)) + l.transmission(size)
	l.live.Cluster.Carry(&c.arrives[w], func() {
		if c.lost[w] || l.drops(w) {
			c.lost[w] = true
			return
		}
		c.arrived[w] += size
		arrive()
	})
}

// carryBytes carries bytes, in pieces if the link slices.
func (c *conn) carryBytes(w way, data []byte, arrive func([]byte)) {
	l := c.link
	if l.carries(w, data); l.condition.Refuse {
		return
	}
	if w == request {
		l.live.noteRequest(data)
	}
	if l.live.Trace != nil {
		lost := c.lost[w] || l.drops(w)
		l.live.Trace(Message{At: l.live.Cluster.Now(), Client: l.ip, Conn: c.id, Server: l.server, Reply: w == reply, Lost: lost, Data: data, Arrived: &c.arrived[w]})
	}
	size := len(data)
	if s := c.link.condition.Slice; s > 0 {
		size = s
	}
	for piece := range slices.Chunk(data, max(size, 1)) {
		c.carry(w, len(piece), func() { arrive(piece) })
	}
}

// Reply implements End: it carries the server's bytes to the client.
func (c *conn) Reply(data []byte) {
	if !c.shaken {
		c.head = append(c.head, data...)
		c.shake()
	}
	c.said += len(data)
	truncated := c.link.condition.Left > 0 && c.said > c.link.condition.Left
	if truncated {
		data = data[:max(0, len(data)-(c.said-c.link.condition.Left))]
	}
	c.carryBytes(reply, data, func(piece []byte) {
		c.mu.Lock()
		c.in = append(c.in, piece...)
		c.mu.Unlock()
		c.signal()
	})
	if truncated {
		c.carry(reply, 0, c.cut)
	}
}

// shake reads the session from the server's answer to the connect request.
func (c *conn) shake() {
	if len(c.head) < 4 {
		return
	}
	n := int(binary.BigEndian.Uint32(c.head))
	if n <= len(c.head)-4 {
		var r wire.ConnectResponse
		if _, err := wire.Decode(c.head[4:4+n], &r); err == nil && r.Session != 0 && c.link.granted != nil {
			c.link.granted(r.Session)
		}
		c.shaken, c.head = true, nil
	}
}

// Hangup implements End: the server has closed the connection.
func (c *conn) Hangup() {
	c.over = true
	c.carry(reply, 0, func() {
		c.forget()
		c.end(io.EOF)
	})
}

// cut ends the connection at both ends.
func (c *conn) cut() {
	c.gone()
	c.end(syscall.ECONNRESET)
}

// gone ends the connection at the server.
func (c *conn) gone() {
	c.forget()
	if !c.over {
		c.over = true
		c.link.live.Closed(c.link.server, c.id)
	}
}

func (c *conn) forget() {
	c.link.conns = slices.DeleteFunc(c.link.conns, func(other *conn) bool { return other == c })
}

// end tells the client that nothing more comes.
func (c *conn) end(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.signal()
}

func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	for {
		n, err, ready := c.take(b)
		if ready {
			c.signal() // another reader may go on too
			if err != nil && err != io.EOF {
				err = &net.OpError{Op: "read", Net: "tcp", Addr: c.RemoteAddr(), Err: err}
			}
			return n, err
		}
		<-c.wake
	}
}

// take reads the bytes that have arrived. ready is false if there are none and more may
// come.
func (c *conn) take(b []byte) (n int, err error, ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, net.ErrClosed, true
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		return 0, os.ErrDeadlineExceeded, true
	case len(c.in) > 0:
		n = copy(b, c.in)
		c.in = c.in[n:]
		return n, nil, true
	case c.err != nil:
		return 0, c.err, true
	}
	return 0, nil, len(b) == 0
}

// Write implements net.Conn. It returns at once: the data is on its way.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.writable(); err != nil {
		return 0, &net.OpError{Op: "write", Net: "tcp", Addr: c.RemoteAddr(), Err: err}
	}
	data := slices.Clone(b)
	c.link.live.Do(func() {
		if c.link.condition.Reset {
			c.cut()
			return
		}
		c.carryBytes(request, data, func(piece []byte) {
			if !c.over {
				c.link.live.Receive(c.link.server, c.id, piece)
			}
		})
	})
	return len(b), nil
}

func (c *conn) writable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case !c.writeBy.IsZero() && !time.Now().Before(c.writeBy):
		return os.ErrDeadlineExceeded
	case c.err == io.EOF:
		return syscall.EPIPE
	}
	return c.err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	if again {
		return net.ErrClosed
	}
	c.signal()
	c.link.live.Do(func() {
		if c.id != 0 {
			c.carry(request, 0, c.gone)
		}
	})
	return nil
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetWriteDeadline(t)
	return c.SetReadDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.deadline = t
	switch {
	case t.IsZero() && c.timer != nil:
		c.timer.Stop()
	case t.IsZero():
	case c.timer == nil:
		c.timer = time.AfterFunc(time.Until(t), c.signal)
	default:
		c.timer.Reset(time.Until(t))
	}
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.writeBy = t
	return nil
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return address(c.link.ip + ":2181") }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return address(c.addr) }

// address is a net.Addr.
type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }
