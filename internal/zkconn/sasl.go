package zkconn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Bounds of a server's messages. A challenge has a few hundred bytes, and a mechanism a few
// challenges.
const (
	maxToken  = 64 << 10
	maxRounds = 8
)

// Sizes of ZooKeeper's protocol: the answer to a connect request, and a reply's header.
const (
	minHandshake = 36
	maxHandshake = 37
	replyHeader  = 16
)

// opSASL is the operation of a request that has a token.
const opSASL = 102

// WithSASL returns a connection to a server, host:port, that is authenticated before the
// answer to the connect request can be read from it. All of this has to happen within
// patience from now on. plausible reports whether a server can have sent an answer, without
// its length, to a connect request. An implausible answer is handed out as it came, and so
// is the answer that a session has expired, which ends the connection: such a server learns
// nothing about the client. A read returns an [*AuthError] when the authentication has failed;
// the connection is closed then.
func WithSASL(raw net.Conn, server string, m Mechanism, patience time.Duration, plausible func(answer []byte) bool) net.Conn {
	by := time.Now().Add(patience)
	ctx, cancel := context.WithDeadline(context.Background(), by)
	return &conn{
		Conn: raw, in: bufio.NewReader(raw), server: server, mechanism: m, plausible: plausible,
		patience: patience, by: by, ctx: ctx, cancel: cancel,
	}
}

type conn struct {
	net.Conn
	in        *bufio.Reader // of Conn
	server    string
	mechanism Mechanism
	plausible func([]byte) bool
	patience  time.Duration
	by        time.Time
	ctx       context.Context // of the authentication; ends with the connection
	cancel    context.CancelFunc

	begun bool   // the first bytes have come, usually the answer to the connect request
	held  []byte // the answer, until it is handed out
	err   error  // why there is no answer
}

// Close ends the authentication too.
func (c *conn) Close() error {
	c.cancel()
	return c.Conn.Close()
}

// Read is not called by two goroutines at a time.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !c.begun {
		c.begun = true
		c.begin()
	}
	if len(c.held) > 0 {
		n := copy(p, c.held)
		c.held = c.held[n:]
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.in.Read(p)
}

// begin reads the answer to the connect request and authenticates the connection. Read
// returns the bytes that begin leaves in the buffer.
func (c *conn) begin() {
	defer c.cancel()
	size, err := c.in.Peek(4)
	if err != nil {
		return
	}
	n := binary.BigEndian.Uint32(size)
	if n < minHandshake || n > maxHandshake {
		return
	}
	answer, err := c.in.Peek(4 + int(n))
	if err != nil || !c.plausible(answer[4:]) || expired(answer[4:]) {
		return
	}
	c.held = bytes.Clone(answer)
	_, _ = c.in.Discard(len(answer)) // these bytes are in the buffer
	if err := c.authenticate(); err != nil {
		c.held, c.err = nil, &AuthError{c.mechanism.Name(), err}
		c.Close()
	}
}

// expired reports whether an answer to a connect request has neither a session nor a timeout.
func expired(answer []byte) bool {
	return binary.BigEndian.Uint32(answer[4:]) == 0 && binary.BigEndian.Uint64(answer[8:]) == 0
}

// authenticate exchanges tokens with the server until the mechanism has no other.
func (c *conn) authenticate() error {
	if err := c.SetDeadline(c.by); err != nil {
		return err
	}
	token, next, err := c.mechanism.Start(c.ctx, c.server)
	if err != nil {
		return err
	}
	for round := 1; ; round++ {
		if round > maxRounds {
			return AuthFailed("the server asks again and again: %d challenges, and no end", maxRounds)
		}
		challenge, code, err := c.ask(int32(round), token)
		if err != nil {
			return c.broken(err)
		}
		if code != 0 {
			return refused(code, c.mechanism.Name(), round)
		}
		if challenge == nil && round == 1 {
			return noToken()
		}
		if token, err = next(challenge); err != nil {
			return err
		}
		if token == nil {
			// The caller sets its own deadline before it reads on.
			return c.SetWriteDeadline(time.Time{})
		}
	}
}

// broken returns the error for an answer that did not come.
func (c *conn) broken(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, errNoAnswer):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server closed the connection during the authentication")
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the server did not end the authentication within %v", c.patience)
	}
	return err
}

// errNoAnswer is wrapped when the server's message is no answer to a SASL request.
var errNoAnswer = errors.New("the server sent no answer to a SASL request")

// ask sends a token and returns the server's token, or nil when the answer has none.
func (c *conn) ask(xid int32, token []byte) (challenge []byte, code int32, err error) {
	const header = 4 + 4 + 4
	p := make([]byte, 4+header+len(token)) // length, xid, operation, the token's length
	binary.BigEndian.PutUint32(p, uint32(len(p)-4))
	binary.BigEndian.PutUint32(p[4:], uint32(xid))
	binary.BigEndian.PutUint32(p[8:], opSASL)
	binary.BigEndian.PutUint32(p[12:], uint32(len(token)))
	copy(p[4+header:], token)
	if _, err := c.Conn.Write(p); err != nil {
		return nil, 0, err
	}
	var size [4]byte
	if _, err := io.ReadFull(c.in, size[:]); err != nil {
		return nil, 0, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < replyHeader || n > replyHeader+4+maxToken {
		return nil, 0, fmt.Errorf("%w but a frame of %d bytes", errNoAnswer, n)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(c.in, frame); err != nil {
		return nil, 0, err
	}
	if got := int32(binary.BigEndian.Uint32(frame)); got != xid {
		return nil, 0, fmt.Errorf("%w %d but one to request %d", errNoAnswer, xid, got)
	}
	if code = int32(binary.BigEndian.Uint32(frame[12:])); code != 0 {
		return nil, code, nil
	}
	body := frame[replyHeader:]
	if len(body) < 4 {
		return nil, 0, fmt.Errorf("%w: it has no token", errNoAnswer)
	}
	length := int32(binary.BigEndian.Uint32(body))
	if body = body[4:]; length == -1 {
		return nil, 0, nil
	}
	if length < 0 || int(length) > len(body) {
		return nil, 0, fmt.Errorf("%w but %d bytes of a token of %d", errNoAnswer, len(body), length)
	}
	return body[:length], 0, nil
}
