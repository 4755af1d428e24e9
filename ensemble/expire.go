package ensemble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Expire forces a session to expire, as an administrator or a thief of its password does:
// it connects to a server as that session and closes it. When it returns nil the
// session's ephemeral nodes are gone on a majority of the servers. The session's client
// is not told; it learns of the end when it next talks to a server. timeout is the
// session's timeout, which the servers use for the short rest of its life; together with
// ctx it bounds the call. Expire returns ErrNoSession when the servers know no such
// session; it may have expired.
func Expire(ctx context.Context, s Server, sessionID int64, password []byte, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// The session's client may reconnect between the two requests and take the session back; then
	// the connection ends without an answer.
	had := false
	for {
		err := expire(ctx, s, sessionID, password, timeout)
		if err == nil || had && errors.Is(err, ErrNoSession) {
			return nil
		}
		if errors.Is(err, errTakenBack) && ctx.Err() == nil {
			had = true
			continue
		}
		return fmt.Errorf("expire session 0x%x at %s: %w", sessionID, s.Addr, err)
	}
}

// ExpireAnywhere calls Expire at one server after the other until one succeeds, each try
// within the time each. A server that took the session over but did not answer in time
// may have ended it: when the servers know no such session after that, ExpireAnywhere
// returns nil. Otherwise it returns the errors of all of them.
func ExpireAnywhere(ctx context.Context, servers []Server, each time.Duration, sessionID int64, password []byte, timeout time.Duration) error {
	var errs []error
	had := false
	for _, s := range servers {
		try, cancel := context.WithTimeout(ctx, each)
		err := Expire(try, s, sessionID, password, timeout)
		cancel()
		if err == nil || had && errors.Is(err, ErrNoSession) {
			return nil
		}
		had = had || errors.Is(err, errTakenBack)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// errTakenBack is returned when the session was taken over, and lost again before it was
// closed, or closed without an answer.
var errTakenBack = errors.New("the session was taken back")

func expire(ctx context.Context, s Server, sessionID int64, password []byte, timeout time.Duration) error {
	conn, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := handOver(conn, sessionID, password, timeout); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
	return nil
}

// opCloseSession is ZooKeeper's request that ends a session.
const opCloseSession = -11

// closeXid is the xid of the close request, a number that no client reaches. A server
// takes the commit of a write for the commit of the first write of its own that waits for
// one, if session and xid are the same (CommitProcessor.run). If the session's client had
// just sent such a write through another server, that server would take the end of the
// session for the end of that write, and leave the client connected to a session that no
// longer exists and whose writes all fail. kazoo begins at 1 with each connection.
const closeXid = 1 << 30

// handOver takes the session over on conn and closes it.
func handOver(conn net.Conn, sessionID int64, password []byte, timeout time.Duration) error {
	// ConnectRequest: protocol version, last zxid seen, timeout in ms, session ID, password. With
	// zxid 0 a server that lags behind accepts it too.
	connect := binary.BigEndian.AppendUint32(nil, 0)
	connect = binary.BigEndian.AppendUint64(connect, 0)
	connect = binary.BigEndian.AppendUint32(connect, uint32(timeout.Milliseconds()))
	connect = binary.BigEndian.AppendUint64(connect, uint64(sessionID))
	connect = binary.BigEndian.AppendUint32(connect, uint32(len(password)))
	connect = append(connect, password...)
	answer, err := exchange(conn, connect)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the server does not serve: %w", err)
	}
	if err != nil {
		return err
	}
	// ConnectResponse: protocol version, negotiated timeout, session ID, …; a timeout of 0 means
	// that there is no such session.
	if len(answer) < 16 {
		return fmt.Errorf("answer of %d bytes to a connect request", len(answer))
	}
	if binary.BigEndian.Uint32(answer[4:]) == 0 {
		return ErrNoSession
	}
	// RequestHeader: xid, operation.
	request := binary.BigEndian.AppendUint32(nil, closeXid)
	op := int32(opCloseSession)
	request = binary.BigEndian.AppendUint32(request, uint32(op))
	answer, err = exchange(conn, request)
	if err != nil {
		return fmt.Errorf("close it: %w: %w", errTakenBack, err)
	}
	// ReplyHeader: xid, zxid, error code.
	if len(answer) < 16 {
		return fmt.Errorf("answer of %d bytes to the request to close", len(answer))
	}
	const moved = -118
	switch code := int32(binary.BigEndian.Uint32(answer[12:])); code {
	case 0:
	case moved:
		return errTakenBack
	default:
		return fmt.Errorf("ZooKeeper error %d in answer to the request to close", code)
	}
	return nil
}

// maxAnswer is far above the few dozen bytes of the two answers expected.
const maxAnswer = 1 << 16

// exchange sends one packet and reads one. A length precedes each.
func exchange(conn net.Conn, body []byte) ([]byte, error) {
	packet := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	if _, err := conn.Write(packet); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxAnswer {
		return nil, fmt.Errorf("%w: a frame of %d bytes%s", ErrNotZooKeeper, int32(n), describe(length[:]))
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}
