package recipes_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
)

// ZooKeeper's operation codes on the wire.
const (
	opCreate          = 1
	opDelete          = 2
	opExists          = 3
	opGetData         = 4
	opSync            = 9
	opPing            = 11
	opChildren        = 12
	opMulti           = 14
	opCreateContainer = 19
	opSetWatches      = 101
	opBeat            = -14 // passed to hooks for a multi of checks alone, such as a heartbeat
)

// noAuth is the servers' error for a request without permission.
const noAuth = -102

// intercept forces interleavings on a real connection: it sits between the
// client and the server and asks its hooks what to do with each request and
// each reply. A hook may block; it returns false to cut the connection instead
// of passing the packet on.
type intercept struct {
	through func(ctx context.Context, network, addr string) (net.Conn, error) // nil: the network

	mu      sync.Mutex
	request func(op int32) bool
	reply   func(op int32) bool
	late    map[int32]<-chan struct{} // requests that are sent when the channel is closed; others pass them
	held    chan struct{}             // capacity 1: a request is held back
	refusal int32                     // the error that answers the request whose hook runs; 0 for none
	deaf    bool                      // drops watch events
	id      int64                     // of the latest session
	secret  []byte
}

// credentials returns the latest session and its password.
func (i *intercept) credentials() (int64, []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id, i.secret
}

// on replaces the hooks; a nil hook passes every packet.
func (i *intercept) on(request, reply func(op int32) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.request, i.reply = request, reply
}

// holdBack makes requests of op wait until a channel is closed. Requests of other operations on
// the same connection do not wait for them. The returned channel gets a value when a request
// waits.
func (i *intercept) holdBack(op int32, until <-chan struct{}) <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.late, i.held = map[int32]<-chan struct{}{op: until}, make(chan struct{}, 1)
	return i.held
}

// refuse is an act at a request: the servers do not carry it out, and answer that permission is
// missing.
func (i *intercept) refuse() bool { return i.refuseWith(noAuth) }

// refuseWith is refuse with another of ZooKeeper's errors.
func (i *intercept) refuseWith(code int32) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refusal = code
	return true
}

// refused returns the error that answers the request whose hook has run, or 0.
func (i *intercept) refused() int32 {
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.refusal
	i.refusal = 0
	return was
}

// loseEvents drops every watch event from now on.
func (i *intercept) loseEvents() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.deaf = true
}

func (i *intercept) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	through := i.through
	if through == nil {
		through = new(net.Dialer).DialContext
	}
	conn, err := through(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &interceptConn{Conn: conn, owner: i, ops: make(map[int32]int32), refused: make(map[int32]int32)}, nil
}

type interceptConn struct {
	net.Conn
	owner *intercept

	mu      sync.Mutex
	ops     map[int32]int32 // open requests: xid to operation
	refused map[int32]int32 // open requests that were refused: xid to error
	opened  bool            // the connect request has passed
	shaken  bool            // the connect reply has passed
	buf     []byte          // of a reply, still to be read
	partial []byte
}

func (c *interceptConn) Write(p []byte) (int, error) {
	if !c.opened {
		c.opened = true
		return c.Conn.Write(p)
	}
	xid, op := int32(binary.BigEndian.Uint32(p[4:])), int32(binary.BigEndian.Uint32(p[8:]))
	if op == opMulti && checksAlone(p[12:]) {
		op = opBeat
	}
	c.mu.Lock()
	c.ops[xid] = op
	c.mu.Unlock()
	c.owner.mu.Lock()
	hook, late, held := c.owner.request, c.owner.late[op], c.owner.held
	c.owner.mu.Unlock()
	if late != nil {
		select {
		case held <- struct{}{}:
		default:
		}
		p := slices.Clone(p)
		go func() { // ends when the test lets the request go
			<-late
			_, _ = c.Conn.Write(p) // the reader sees that the connection has broken
		}()
		return len(p), nil
	}
	if hook != nil && !hook(op) {
		c.Conn.Close()
		return 0, io.ErrClosedPipe
	}
	if code := c.owner.refused(); code != 0 {
		p = binary.BigEndian.AppendUint32(nil, 4+4+4+1+1) // a request without effect takes its place
		p = binary.BigEndian.AppendUint32(p, uint32(xid))
		p = binary.BigEndian.AppendUint32(p, opExists)
		p = append(p, 0, 0, 0, 1, '/', 0)
		c.mu.Lock()
		c.refused[xid] = code
		c.mu.Unlock()
	}
	return c.Conn.Write(p)
}

// checksAlone reports whether a multi has only checks.
func checksAlone(ops []byte) bool {
	const opCheck = 13
	for {
		op, done := int32(binary.BigEndian.Uint32(ops)), ops[4] != 0
		if done || op != opCheck {
			return done
		}
		path := 9 + 4
		ops = ops[path+int(binary.BigEndian.Uint32(ops[9:]))+4:]
	}
}

func (c *interceptConn) Read(p []byte) (int, error) {
	for len(c.buf) == 0 {
		if err := c.frame(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.buf)
	c.buf = c.buf[n:]
	return n, nil
}

// frame reads one whole reply. The part of a reply that was read before a deadline is kept.
func (c *interceptConn) frame() error {
	for {
		if n := len(c.partial); n >= 4 {
			size := 4 + int(binary.BigEndian.Uint32(c.partial))
			if n >= size {
				frame := c.partial[:size:size]
				c.partial = c.partial[size:]
				return c.pass(frame)
			}
		}
		var b [4096]byte
		n, err := c.Conn.Read(b[:])
		c.partial = append(c.partial, b[:n]...)
		if err != nil && n == 0 {
			return err
		}
	}
}

func (c *interceptConn) pass(frame []byte) error {
	if !c.shaken {
		c.shaken = true
		// length, protocol, timeout, session id, password's length, password
		if id := int64(binary.BigEndian.Uint64(frame[12:])); id != 0 {
			c.owner.mu.Lock()
			c.owner.id, c.owner.secret = id, frame[24:40:40]
			c.owner.mu.Unlock()
		}
	} else {
		xid := int32(binary.BigEndian.Uint32(frame[4:]))
		c.mu.Lock()
		op, known := c.ops[xid]
		delete(c.ops, xid)
		if code := c.refused[xid]; known && code != 0 {
			delete(c.refused, xid)
			const header = 16 // xid, zxid, error
			frame = binary.BigEndian.AppendUint32([]byte{0, 0, 0, header}, uint32(xid))
			frame = binary.BigEndian.AppendUint64(frame, 0)
			frame = binary.BigEndian.AppendUint32(frame, uint32(code))
		}
		c.mu.Unlock()
		c.owner.mu.Lock()
		hook, deaf := c.owner.reply, c.owner.deaf
		c.owner.mu.Unlock()
		if xid == -1 && deaf {
			return nil // the reader continues with the next frame
		}
		if known && xid >= 0 && hook != nil && !hook(op) {
			c.Conn.Close()
			return io.ErrUnexpectedEOF
		}
	}
	c.buf = frame
	return nil
}

// once returns a hook that runs act for the first packet of op, and passes all
// others.
func once(op int32, act func() bool) func(int32) bool {
	var once sync.Once
	return func(got int32) bool {
		pass := true
		if got == op {
			once.Do(func() { pass = act() })
		}
		return pass
	}
}

// cut is an act that cuts the connection.
func cut() bool { return false }
