package session

import (
	"context"
	"encoding/binary"
	"errors"
	"time"
)

// leastSessionTimeout returns the shortest session timeout that a server grants, or
// leastTimeout if that is longer. It asks the server for a session with a shorter timeout
// than the server grants. The arguments are those of probe. A server that demands an
// authentication says so when the session is closed, and lets it expire; the client gets
// the error if it has no credentials. It does not authenticate here: the session may be too
// short for that.
func (c connector) leastSessionTimeout(ctx context.Context, addr string, patience time.Duration) (time.Duration, error) {
	plain := c.s.cfg
	plain.SASL, plain.Auths = nil, nil
	answer, err := c.probe(ctx, &plain, addr, min(leastTimeout, plain.Timeout), patience)
	if err != nil {
		return 0, err
	}
	if answer.demandsAuth != nil {
		if cfg := &c.s.cfg; len(cfg.Auths) == 0 && cfg.SASL == nil {
			return 0, answer.demandsAuth
		}
		c.s.demandsAuth.Store(true)
	}
	return answer.timeout, nil
}

// probe asks a server for a session with a timeout and closes the session at once. The
// session is that of a client that has seen no transaction and has the credentials of cfg.
// ctx bounds the opening of the connection, and patience the wait for the answer.
func (c connector) probe(ctx context.Context, cfg *Config, addr string, timeout, patience time.Duration) (*probe, error) {
	conn, err := c.open(ctx, cfg, "tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(c.s.dials, func() { conn.Close() })() // when the session ends
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	answer := &probe{asked: timeout}
	w := newWireConn(conn, answer, cfg.Clock, patience, cfg.MaxPacket+slack)
	if _, err := w.Write(connectRequest(timeout)); err != nil {
		return nil, err
	}
	var reply [4 + maxHandshake]byte
	if _, err := w.Read(reply[:]); err != nil {
		return nil, err
	}
	for _, a := range cfg.Auths {
		if _, err := w.Write(authRequest(a)); err != nil {
			return nil, err
		}
	}
	// The server closes the connection when it has taken this request. The request might be
	// lost with a connection that the client closes first.
	_ = conn.SetDeadline(time.Now().Add(patience / 8))
	if _, err := w.Write(closeRequest()); err == nil {
		for err == nil {
			_, err = w.Read(reply[:])
		}
		if errors.Is(err, errAuthRequired) {
			answer.demandsAuth = err
		}
	}
	return answer, nil
}

// probe is the tap of a connection that only asks for a session.
type probe struct {
	asked, timeout time.Duration
	zxid           int64 // of the latest answer
	demandsAuth    error // the server answers no request of a client that has not authenticated
}

// connected implements wireTap.
func (p *probe) connected(_ time.Time, h handshake) error {
	p.timeout = h.timeout
	return h.implausible(0, p.asked)
}

// answered implements wireTap.
func (*probe) answered(time.Time, answer) {}

// created implements wireTap.
func (*probe) created(string, int64) {}

// hungUp implements wireTap.
func (*probe) hungUp() {}

// reached implements wireTap.
func (p *probe) reached(zxid int64) { p.zxid = zxid }

// denied implements wireTap.
func (*probe) denied(requestPart) {}

// unwatched implements wireTap.
func (*probe) unwatched() {}

// lied implements wireTap.
func (*probe) lied() {}

// connectRequest returns a request for a new session.
func connectRequest(timeout time.Duration) []byte {
	p := make([]byte, 4+4+8+4+8+4+passwordSize) // length, version, zxid, timeout, session, password
	binary.BigEndian.PutUint32(p, uint32(len(p)-4))
	binary.BigEndian.PutUint32(p[16:], uint32(timeout.Milliseconds()))
	binary.BigEndian.PutUint32(p[28:], passwordSize)
	return p
}

// authRequest returns a request that authenticates by a scheme of the servers. It ends with
// the scheme and the secret.
func authRequest(a Auth) []byte {
	p := plainRequest(xidAuth, opAuth, 0) // an unused type
	for _, field := range []string{a.Scheme, string(a.Secret())} {
		p = append(binary.BigEndian.AppendUint32(p, uint32(len(field))), field...)
	}
	binary.BigEndian.PutUint32(p, uint32(len(p)-4))
	return p
}

func closeRequest() []byte { return plainRequest(1, opClose) }

// plainRequest returns a request whose fields are all numbers.
func plainRequest(xid, op int32, fields ...int32) []byte {
	p := binary.BigEndian.AppendUint32(nil, uint32(4*(2+len(fields)))) // its length
	for _, field := range append([]int32{xid, op}, fields...) {
		p = binary.BigEndian.AppendUint32(p, uint32(field))
	}
	return p
}
