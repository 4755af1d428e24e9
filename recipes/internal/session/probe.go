package session

import (
	"context"
	"encoding/binary"
	"errors"
	"time"
)

// leastSessionTimeout returns the shortest session timeout that a server grants, or
// leastTimeout if that is longer. The server is asked for a session with less than it
// grants. Arguments are those of probe.
func (c connector) leastSessionTimeout(ctx context.Context, addr string, patience time.Duration) (time.Duration, error) {
	answer, err := c.probe(ctx, addr, patience)
	if err != nil {
		return 0, err
	}
	if answer.demandsAuth {
		c.s.demandsAuth.Store(true)
	}
	return answer.timeout, nil
}

// probe asks a server for a session, which is closed at once, of a client that has seen no
// transaction. ctx bounds the opening of the connection, and patience the wait for the answer. A
// server that demands an authentication says so when the session is closed, and lets it expire; the
// client is told if it has none. It does not authenticate here: the session may be too short for
// that.
func (c connector) probe(ctx context.Context, addr string, patience time.Duration) (*probe, error) {
	cfg := &c.s.cfg
	plain := *cfg
	plain.SASL = nil
	conn, err := c.open(ctx, &plain, "tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(c.s.dials, func() { conn.Close() })() // when the session ends
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	answer := &probe{asked: min(leastTimeout, cfg.Timeout)}
	w := newWireConn(conn, answer, cfg.Clock, patience, cfg.MaxPacket+slack)
	if _, err := w.Write(connectRequest(answer.asked)); err != nil {
		return nil, err
	}
	var reply [4 + maxHandshake]byte
	if _, err := w.Read(reply[:]); err != nil {
		return nil, err
	}
	// The server closes the connection when it has taken this request, which might be
	// dropped with a connection that is closed before.
	_ = conn.SetDeadline(time.Now().Add(patience / 8))
	if _, err := w.Write(closeRequest()); err == nil {
		for err == nil {
			_, err = w.Read(reply[:])
		}
		answer.demandsAuth = errors.Is(err, errAuthRequired)
		if answer.demandsAuth && len(cfg.Auths) == 0 && cfg.SASL == nil {
			return nil, err
		}
	}
	return answer, nil
}

// probe is the tap of a connection that asks for a session alone.
type probe struct {
	asked, timeout time.Duration
	zxid           int64 // of the latest answer
	demandsAuth    bool  // the server answers nothing to a client that has not authenticated
}

// connected implements wireTap.
func (p *probe) connected(_ time.Time, h handshake) error {
	p.timeout = h.timeout
	return h.implausible(0, p.asked)
}

// answered implements wireTap.
func (*probe) answered(time.Time, time.Time, answer) {}

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

// connectRequest asks for a new session.
func connectRequest(timeout time.Duration) []byte {
	p := make([]byte, 4+4+8+4+8+4+passwordSize) // length, version, zxid, timeout, session, password
	binary.BigEndian.PutUint32(p, uint32(len(p)-4))
	binary.BigEndian.PutUint32(p[16:], uint32(timeout.Milliseconds()))
	binary.BigEndian.PutUint32(p[28:], passwordSize)
	return p
}

func closeRequest() []byte {
	p := binary.BigEndian.AppendUint32(nil, 8)
	p = binary.BigEndian.AppendUint32(p, 1) // xid
	op := int32(opClose)
	return binary.BigEndian.AppendUint32(p, uint32(op))
}
