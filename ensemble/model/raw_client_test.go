package model_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// ErrClosed is returned when the server has closed the connection.
var ErrClosed = errors.New("the server has closed the connection")

// ErrNoAnswer is returned when the server sends nothing within the client's patience.
var ErrNoAnswer = errors.New("the server does not answer")

// Session is the data that a client needs to reconnect to its session.
type Session struct {
	ID       int64 // 0 for a new one
	Password []byte
	LastZxid int64 // the greatest that the client has seen
}

// Frame is a frame that a server has sent after the handshake.
type Frame struct {
	wire.ReplyHeader
	Body []byte
}

// Client is a connection to one server. It sends the requests that it is given, in any
// order, and reads frame by frame. It is used by one goroutine.
type Client struct {
	Session Session
	Timeout time.Duration // as negotiated; 0 if the session has expired

	conn     net.Conn
	patience time.Duration
	xid      int32
	closed   bool
}

// sessionTimeout is the timeout that clients ask for: no session expires by itself in a
// program.
const sessionTimeout = 60 * time.Second

// Dial connects to a server and begins a session, or takes one up again. A client whose
// session has expired has Timeout 0. Each wait for the server lasts at most patience.
func Dial(ctx context.Context, address string, session Session, patience time.Duration) (*Client, error) {
	d := net.Dialer{Timeout: patience}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &Client{Session: session, conn: conn, patience: patience}
	if err := c.handshake(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	return c, nil
}

func (c *Client) handshake() error {
	password := c.Session.Password
	if password == nil {
		password = make([]byte, 16)
	}
	err := c.write(wire.Frame(&wire.ConnectRequest{
		LastZxidSeen: c.Session.LastZxid, Timeout: int32(sessionTimeout.Milliseconds()),
		Session: c.Session.ID, Password: password, HasReadOnly: true,
	}))
	if err != nil {
		return err
	}
	data, err := c.read()
	if err != nil {
		return err
	}
	var r wire.ConnectResponse
	if _, err := wire.Decode(data, &r); err != nil {
		return err
	}
	c.Timeout = time.Duration(r.Timeout) * time.Millisecond
	c.Session.ID, c.Session.Password = r.Session, r.Password
	return nil
}

// Send sends a request under the next number, and returns the number. body may be nil.
// Requests with a fixed number (ping, auth, setWatches) are sent under that. The last cut
// bytes of the frame are left out.
func (c *Client) Send(op wire.Op, body wire.Record, cut int) (xid int32, err error) {
	switch op {
	case wire.Ping:
		xid = wire.PingXid
	case wire.Auth:
		xid = wire.AuthXid
	case wire.SetWatches, wire.SetWatches2:
		xid = wire.SetWatchesXid
	default:
		c.xid++
		xid = c.xid
	}
	records := []wire.Record{&wire.RequestHeader{Xid: xid, Op: op}}
	if body != nil {
		records = append(records, body)
	}
	frame := wire.Frame(records...)
	if cut > 0 {
		frame = frame[:max(len(frame)-cut, 12)] // the length and the header stay
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	}
	return xid, c.write(frame)
}

// Next returns the next frame. It returns ErrClosed or ErrNoAnswer if there is none.
func (c *Client) Next() (Frame, error) {
	data, err := c.read()
	if err != nil {
		return Frame{}, err
	}
	var f Frame
	f.Body, err = wire.Decode(data, &f.ReplyHeader)
	if err == nil && f.Xid != wire.NotificationXid {
		c.Session.LastZxid = max(c.Session.LastZxid, f.Zxid)
	}
	return f, err
}

// Await returns the frames up to and including the reply with the given number. With an
// error it returns the frames that came before.
func (c *Client) Await(xid int32) ([]Frame, error) {
	var frames []Frame
	for {
		f, err := c.Next()
		if err != nil {
			return frames, err
		}
		if frames = append(frames, f); f.Xid == xid {
			return frames, nil
		}
	}
}

// AwaitClosed returns the frames until the server closes the connection, and ErrNoAnswer
// if it does not.
func (c *Client) AwaitClosed() ([]Frame, error) {
	var frames []Frame
	for {
		f, err := c.Next()
		if errors.Is(err, ErrClosed) {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

// Closed reports whether the connection has ended, as far as the client has noticed.
func (c *Client) Closed() bool { return c.closed }

// Close closes the connection, not the session.
func (c *Client) Close() {
	c.closed = true
	c.conn.Close()
}

func (c *Client) write(frame []byte) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
		return c.ended(err)
	}
	_, err := c.conn.Write(frame)
	return c.ended(err)
}

// longest bounds the length of a frame that is read.
const longest = 4 << 20

func (c *Client) read() ([]byte, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return nil, c.ended(err)
	}
	var head [4]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return nil, c.ended(err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > longest {
		return nil, fmt.Errorf("a frame of %d bytes: %w", n, wire.ErrMalformed)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(c.conn, data); err != nil {
		return nil, c.ended(err)
	}
	return data, nil
}

// ended maps the two ways in which a connection fails to their errors.
func (c *Client) ended(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrNoAnswer
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		c.closed = true
		return ErrClosed
	}
	return err
}
