package service

import (
	"encoding/binary"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// maxFrame bounds the length of a client's frame (jute.maxbuffer).
const maxFrame = 0xfffff

// Connection is the connection of one client (NIOServerCnxn).
type Connection struct {
	service *Service
	id      ConnID
	ip      string
	buffer  []byte // received, and not read yet
	stage   stage
	old     bool  // the client knows nothing of read-only servers
	session int64 // 0 before it is known
	timeout int32 // ms, as negotiated
	resumes bool  // the session is not new
	auth    []wire.ID
	expires time.Duration // instant at which it is closed if no data comes before

	saslState saslState
}

// stage is the stage of a connection.
type stage int

const (
	connecting stage = iota // the connect request has not come
	admitting               // the session begins or is looked for; no frames are read meanwhile
	open
	shut // no frames are read any more
)

// heard postpones the end of a silent connection.
func (c *Connection) heard(limit time.Duration) {
	before := c.expires
	c.expires = ((c.service.now+limit)/idleUnit + 1) * idleUnit
	c.service.clients.moved(before, c.expires)
}

// read takes whole frames off the buffer, as long as the connection reads.
func (c *Connection) read() {
	for (c.stage == connecting || c.stage == open) && len(c.buffer) >= 4 {
		if c.stage == connecting && c.command(string(c.buffer[:4])) {
			return
		}
		n := int(int32(binary.BigEndian.Uint32(c.buffer)))
		if n < 0 || n > maxFrame {
			c.close()
			return
		}
		if len(c.buffer) < 4+n {
			return
		}
		frame := c.buffer[4 : 4+n : 4+n]
		c.buffer = c.buffer[4+n:]
		if c.stage == connecting {
			c.connect(frame)
		} else {
			c.request(frame)
		}
	}
	if len(c.buffer) == 0 {
		c.buffer = nil
	}
}

// request handles a frame after the first.
func (c *Connection) request(frame []byte) {
	c.heard(time.Duration(c.timeout) * time.Millisecond)
	var h wire.RequestHeader
	body, err := wire.Decode(frame, &h)
	if err != nil || !c.service.quorum.Serves() {
		c.close()
		return
	}
	if h.Op == wire.Auth {
		c.authenticate(h.Xid, body)
		return
	}
	if h.Op == wire.SASL {
		c.sasl(h.Xid, body)
		return
	}
	if c.demanded() {
		c.reply(wire.ReplyHeader{Xid: h.Xid, Err: wire.SessionClosedRequireSASL}, nil)
		c.close()
		return
	}
	r := &tree.Request{Session: c.session, Cxid: h.Xid, Op: h.Op, Auth: c.auth}
	if r.Body = wire.NewRequest(h.Op); r.Body != nil {
		if _, err := wire.Decode(body, r.Body); err != nil {
			r.Body = nil // answered with MarshallingError, in its turn
		}
	}
	c.service.submit(c, r)
}

// authenticate adds an identity to the connection, or ends it.
func (c *Connection) authenticate(xid int32, body []byte) {
	var r wire.AuthRequest
	if _, err := wire.Decode(body, &r); err != nil {
		c.close()
		return
	}
	id, ok := tree.Authenticate(r.Scheme, r.Auth, c.ip)
	if !ok {
		c.reply(wire.ReplyHeader{Xid: xid, Err: wire.AuthFailed}, nil)
		c.close()
		return
	}
	c.auth = tree.WithIdentity(c.auth, id)
	c.reply(wire.ReplyHeader{Xid: xid}, nil)
}

// reply sends a header, and a body if there is one.
func (c *Connection) reply(h wire.ReplyHeader, body wire.Record) {
	if body == nil {
		c.send(wire.Frame(&h))
		return
	}
	c.send(wire.Frame(&h, body))
}

func (c *Connection) send(data []byte) {
	if c.stage != shut {
		c.service.do(Send{c.id, data})
	}
}

// close ends the connection, once the sent data is on its way.
func (c *Connection) close() {
	if c.stage != shut {
		c.service.do(Close{c.id})
	}
	c.forget()
}

// forget drops the connection's state.
func (c *Connection) forget() {
	c.stage = shut
	delete(c.service.clients.conns, c.id)
	c.service.clients.moved(c.expires, never)
	c.service.watches.Drop(int64(c.id))
}
