package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// handshake is a server's answer to a connect request.
type handshake struct {
	protocol int32
	timeout  time.Duration // that the server grants; 0 when the session has expired
	session  int64         // 0 when it has expired
	password int           // its length
}

// The answer is 36 bytes long. Newer servers add one byte, which tells whether they
// are read-only.
const (
	minHandshake = 36
	maxHandshake = 37
)

// passwordSize is the length of every session's password.
const passwordSize = 16

// Session timeouts outside this range are refused, unless the client has asked
// for one. Servers move the requested timeout into the range from
// minSessionTimeout to maxSessionTimeout, 2 and 20 ticks unless configured.
const (
	leastTimeout   = 100 * time.Millisecond
	longestTimeout = time.Hour
)

// parseHandshake reads an answer of at least minHandshake bytes.
func parseHandshake(body []byte) handshake {
	return handshake{
		protocol: int32(binary.BigEndian.Uint32(body)),
		timeout:  time.Duration(int32(binary.BigEndian.Uint32(body[4:]))) * time.Millisecond,
		session:  int64(binary.BigEndian.Uint64(body[8:])),
		password: int(int32(binary.BigEndian.Uint32(body[16:]))),
	}
}

// expired reports whether the server no longer knows the session.
func (h handshake) expired() bool { return h.session == 0 && h.timeout == 0 }

// implausible returns why no ZooKeeper server can have given this answer, or nil when one
// can. The client asked to resume session, or with 0 for a new one, and for this timeout.
// go-zookeeper believes every answer, and panics with a session whose timeout is 0.
func (h handshake) implausible(session int64, asked time.Duration) error {
	switch {
	case h.protocol != 0:
		return fmt.Errorf("it answered with protocol version %d instead of 0", h.protocol)
	case h.password != passwordSize:
		return fmt.Errorf("it answered with a password of %d bytes instead of %d", h.password, passwordSize)
	case h.expired() && session != 0:
		return nil
	case h.expired():
		return errors.New("it refused a new session with a timeout of 0, as if it were one that has expired")
	case h.timeout == 0:
		return fmt.Errorf("it granted session %#x a timeout of 0", h.session)
	case h.session == 0:
		return fmt.Errorf("it granted a session timeout of %v, and session 0", h.timeout)
	case h.timeout < min(leastTimeout, asked), h.timeout > max(longestTimeout, asked):
		return fmt.Errorf("it granted a session timeout of %v when a client asked for %v", h.timeout, asked)
	case session != 0 && h.session != session:
		return fmt.Errorf("it answered with session %#x when a client asked to resume %#x", h.session, session)
	}
	return nil
}
