package service

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// connect reads a client's first frame: a session begins, or goes on here
// (ZooKeeperServer.processConnectRequest).
func (c *Connection) connect(frame []byte) {
	s := c.service
	var r wire.ConnectRequest
	if _, err := wire.Decode(frame, &r); err != nil || !s.quorum.Serves() || r.LastZxidSeen > s.tree.LastZxid() {
		// A client that has seen more than this server has to try another one.
		c.close()
		return
	}
	c.old = !r.HasReadOnly
	limit := func(d time.Duration) int32 { return int32(d.Milliseconds()) }
	c.timeout = min(max(r.Timeout, limit(s.settings.MinSessionTimeout)), limit(s.settings.MaxSessionTimeout))
	c.heard(time.Duration(c.timeout) * time.Millisecond)
	c.stage = admitting
	if r.Session == 0 {
		c.session = s.quorum.NewSession()
		s.submit(c, &tree.Request{Session: c.session, Op: wire.CreateSession, Timeout: c.timeout, Auth: c.auth})
		return
	}
	s.clients.closeSession(r.Session, c)
	c.session, c.resumes = r.Session, true
	if !bytes.Equal(r.Password, password(r.Session)) {
		c.Admit(false)
		return
	}
	s.quorum.Revalidate(c)
}

// Admit answers the connect request: the session goes on, or has expired.
func (c *Connection) Admit(valid bool) {
	if c.stage != admitting {
		return
	}
	if lower := int32(c.service.settings.Reconnected.Milliseconds()); c.resumes && lower > 0 {
		c.timeout = min(c.timeout, lower)
	}
	r := &wire.ConnectResponse{Password: make([]byte, passwordLength), HasReadOnly: !c.old}
	if valid {
		r.Timeout, r.Session, r.Password = c.timeout, c.session, password(c.session)
	}
	c.send(wire.Frame(r))
	if !valid {
		c.close()
		return
	}
	c.stage = open
	c.read()
}

const passwordLength = 16

// password returns a session's password: every server can compute it from the session's
// id. A simulation has no need to keep it secret.
func password(session int64) []byte {
	b := make([]byte, 0, passwordLength)
	x := uint64(session) ^ 0xB3415C00
	for len(b) < passwordLength { // splitmix64
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		b = binary.BigEndian.AppendUint64(b, z^z>>31)
	}
	return b
}

// ipIdentity returns the identity that every connection has.
func ipIdentity(ip string) wire.ID { return wire.ID{Scheme: "ip", ID: ip} }

// Session returns the connection's session, and its timeout in ms.
func (c *Connection) Session() (id int64, timeout int32) { return c.session, c.timeout }

// Close ends the connection, once the sent data is on its way.
func (c *Connection) Close() { c.close() }
