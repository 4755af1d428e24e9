package session

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/internal/zkconn"
)

// Operation codes and reply codes of ZooKeeper's protocol that matter here.
const (
	opCreate          = 1
	opDelete          = 2
	opSetData         = 5
	opSync            = 9
	opClose           = -11
	opError           = -1 // of a part of a multi that failed
	opMulti           = 14
	opCreateContainer = 19
	opAuth            = 100
	opSetWatches      = 101
	xidPing           = -2
	xidAuth           = -4
	xidSetWatches     = -8
)

// wireConn observes the packets that go-zookeeper sends and receives on one connection.
// Only it knows when a request really left and which session answered. go-zookeeper writes
// each packet in one call.
//
// It also ends the connection before go-zookeeper sees data that no ZooKeeper server sends.
// go-zookeeper allocates as many bytes as a frame claims to have, and as many names as an
// answer claims, and takes every answer to a connect request for a session.
type wireConn struct {
	net.Conn
	tap         wireTap
	clock       Clock
	patience    time.Duration // for the connect reply
	handshakeBy time.Time     // the connect reply must have come by then

	mu        sync.Mutex
	connectAt time.Time  // when the connect request left; zero before that
	shaken    bool       // the connect reply has come
	pending   []wireCall // sent and not answered, oldest first
	refused   error      // why the connection was given up

	in      *bufio.Reader // of Conn
	instead []byte        // the rest of an answer in place of one that was too large, still to be read
	frames  frameReader
}

type wireCall struct {
	xid, op int32
	sent    time.Time
	parts   []requestPart
}

// wireTap is told of the packets on a connection. Its methods must not block.
type wireTap interface {
	// connected is told of the answer to a connect request. It returns an error if the
	// answer is to be refused.
	connected(sent time.Time, h handshake) error
	// hungUp is told that the server has closed the connection instead of answering a
	// connect request.
	hungUp()
	answered(sent time.Time, by answer)
	created(path string, zxid int64)
	// reached is told of the latest transaction that the server had processed when it
	// answered.
	reached(zxid int64)
	denied(p requestPart) // a server has refused it for lack of a permission
	// unwatched is told that the server has not set the watches of a SetWatches request.
	unwatched()
	// lied is told that the connection ends because the server has sent data that no server
	// sends, or an error that sends the client to another server.
	lied()
}

// answer is the part of the ensemble that an answered request has reached.
type answer int

const (
	local     answer = iota // perhaps only to the client's own server
	relayed                 // to the leader, or to a deposed leader
	confirmed               // to a leader and a quorum: a write
)

// newWireConn wraps a connection. The tap is told times of clock. The answer to the connect
// request must come within patience, and no frame may have more than maxFrame bytes.
func newWireConn(conn net.Conn, tap wireTap, clock Clock, patience time.Duration, maxFrame int) *wireConn {
	w := &wireConn{
		Conn: conn, tap: tap, clock: clock, in: bufio.NewReader(conn),
		patience: patience, handshakeBy: time.Now().Add(patience),
	}
	w.frames = frameReader{frame: w.reply, least: replyHeader, most: maxFrame}
	return w
}

// Write ends the connection when it fails, and returns no error for a request:
// go-zookeeper's sendData answers the request with that error and leaves it among those
// that flushRequests answers again when the connection has ended. A caller that Close has
// released takes neither answer, and the second one blocks the loop of the connection for
// ever.
func (w *wireConn) Write(p []byte) (int, error) {
	w.request(p, w.clock.Now()) // before the write: it may be answered before Write returns
	n, err := w.Conn.Write(p)
	if err != nil && w.isShaken() {
		_ = w.Conn.Close() // the reader gets the error
		return len(p), nil
	}
	return n, err
}

// Read returns no byte of a refused answer to a connect request, and none of a refused
// frame length.
func (w *wireConn) Read(p []byte) (int, error) {
	if err := w.refusal(); err != nil {
		return 0, err
	}
	if !w.isShaken() {
		if err := w.shake(); err != nil {
			return 0, w.refuse(err)
		}
	}
	n, err := w.read(p)
	if bad := w.frames.feed(p[:n]); bad != nil {
		w.tap.lied()
		var away *ServerError
		if !errors.As(bad, &away) {
			came, _ := w.in.Peek(min(w.in.Buffered(), maxHead))
			bad = notZooKeeper(bad, came)
		}
		return 0, w.refuse(bad)
	}
	return n, err
}

// shake reads the answer to the connect request and judges it. The bytes that it reads stay
// in the buffer.
func (w *wireConn) shake() error {
	size, err := w.in.Peek(4)
	if err != nil {
		return w.unanswered(size, err)
	}
	n := int(int32(binary.BigEndian.Uint32(size)))
	if n < minHandshake || n > maxHandshake {
		came, _ := w.in.Peek(min(w.in.Buffered(), maxHead))
		return notZooKeeper(fmt.Errorf("it answered with a frame of %d bytes", n), came)
	}
	frame, err := w.in.Peek(4 + n)
	if err != nil {
		return w.unanswered(frame, err)
	}
	w.mu.Lock()
	w.shaken = true
	sent := w.connectAt
	w.mu.Unlock()
	if err := w.tap.connected(sent, parseHandshake(frame[4:])); err != nil {
		return notZooKeeper(err, nil)
	}
	w.frames.passed = len(frame)
	return nil
}

// unanswered returns the error of a connection that had no answer to the connect request.
func (w *wireConn) unanswered(came []byte, err error) error {
	var timeout net.Error
	switch {
	case errors.As(err, new(*zkconn.AuthError)):
		return err
	case len(came) > 0:
		return notZooKeeper(fmt.Errorf("its answer broke off: %w", err), came)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		w.tap.hungUp()
		return fmt.Errorf("the server closed the connection without an answer (it serves no client now, has all the connections that it takes, speaks TLS alone, see WithTLS, or is no ZooKeeper server): %w", err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the server accepted the connection and did not answer within %v: %w", w.patience, err)
	}
	return err
}

// refuse gives the connection up. It records the reason, which go-zookeeper drops from some
// of its errors.
func (w *wireConn) refuse(err error) error {
	w.mu.Lock()
	w.refused = err
	w.mu.Unlock()
	w.Conn.Close()
	return err
}

func (w *wireConn) refusal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

func (w *wireConn) isShaken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shaken
}

// SetReadDeadline caps the wait for the connect reply, for which go-zookeeper
// allows 6.7 session timeouts.
func (w *wireConn) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	if !w.shaken && (t.IsZero() || t.After(w.handshakeBy)) {
		t = w.handshakeBy
	}
	w.mu.Unlock()
	return w.Conn.SetReadDeadline(t)
}

// Close, SetDeadline and SetWriteDeadline are those of Conn. They are here so that Callbacks sees
// them on the stack of a goroutine that calls them.
func (w *wireConn) Close() error { return w.Conn.Close() }

// SetDeadline implements net.Conn.
func (w *wireConn) SetDeadline(t time.Time) error { return w.Conn.SetDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (w *wireConn) SetWriteDeadline(t time.Time) error { return w.Conn.SetWriteDeadline(t) }

func (w *wireConn) request(p []byte, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.connectAt.IsZero() {
		w.connectAt = now
		return
	}
	if len(p) < 12 {
		return
	}
	w.pending = append(w.pending, wireCall{
		xid:   int32(binary.BigEndian.Uint32(p[4:])),
		op:    int32(binary.BigEndian.Uint32(p[8:])),
		sent:  now,
		parts: parts(int32(binary.BigEndian.Uint32(p[8:])), p[12:]),
	})
}

// replyHeader is the size of the header of every frame after the connect reply: int xid,
// long zxid, int err.
const replyHeader = 16

// reply processes one frame from the server, after the connect reply. It returns an error
// if no ZooKeeper server sends such a frame, or if the frame has a server's error that
// sends the client away. A session that has moved is used through another server. A session
// that has expired here may live at another server, which tells so in its answer to the
// connect request. go-zookeeper takes both errors for the end of the request only, and
// would go on to ask the same server.
func (w *wireConn) reply(frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	xid := int32(binary.BigEndian.Uint32(frame))
	code := int32(binary.BigEndian.Uint32(frame[12:]))
	if code == authDemanded { // to every request but an authentication
		return errAuthRequired
	}
	zxid := int64(binary.BigEndian.Uint64(frame[4:]))
	body := frame[replyHeader:]
	if zxid > 0 {
		w.tap.reached(zxid)
	}
	if xid == zkconn.EventXid {
		return zkconn.CheckEvent(body)
	}
	if xid == xidSetWatches && code != 0 { // of WatchTogether, whose request is not in pending
		w.tap.unwatched()
	}
	for i, c := range w.pending {
		if c.xid != xid {
			continue
		}
		// Replies come in the order of the requests, so requests still ahead
		// will not be answered, except authentications, which jump the queue:
		// forgetting these is safe, it only loses evidence.
		w.pending = append(w.pending[:0], w.pending[i+1:]...)
		if code == 0 {
			if err := zkconn.CheckAnswer(c.op, body); err != nil {
				return err
			}
			if part := partError(c.op, body); part == throttled || sendsAway(part) {
				code = part // no quorum has confirmed the request
			}
		}
		if p, denied := refusedPart(c, code, body); denied {
			w.tap.denied(p)
		}
		if code != 0 {
			if c.op == opSetWatches {
				w.tap.unwatched()
			}
			w.tap.answered(c.sent, local)
			if sendsAway(code) {
				return serverError(code)
			}
			return nil
		}
		path := createdPath(c.op, body)
		if path != "" && zxid <= 0 {
			return fmt.Errorf("it created a node by transaction %#x", zxid)
		}
		w.tap.answered(c.sent, answeredBy(c.op))
		if path != "" {
			w.tap.created(path, zxid)
		}
		return nil
	}
	return nil
}

// answeredBy returns the part of the ensemble that a successful request with this operation
// has reached. Writes are the operations that CommitProcessor.needCommit holds back until a
// quorum has them, except sync: a leader answers that by itself.
func answeredBy(op int32) answer {
	switch op {
	case opCreate, opDelete, opSetData, opMulti, opCreateContainer:
		return confirmed
	case opSync:
		return relayed
	}
	return local
}

// maxHead bounds how many bytes are examined of data that is no frame.
const maxHead = 1024

// frameReader splits a stream into length-prefixed frames and hands out each as soon as it
// is complete.
type frameReader struct {
	frame       func([]byte) error // must not keep the slice
	least, most int                // a frame's length
	passed      int                // bytes at the stream's beginning that are skipped
	size        [4]byte
	nsize       int
	have        []byte // of the frame
	left        int    // bytes of the frame still to come
}

// mostKept bounds the memory that a frameReader keeps from one frame to the next.
const mostKept = 64 << 10

// feed returns an error when a frame with a length out of bounds begins, or when a refused
// frame ends. The rest of the stream makes no sense then.
func (r *frameReader) feed(p []byte) error {
	n := min(len(p), r.passed)
	r.passed -= n
	p = p[n:]
	for len(p) > 0 {
		if r.nsize < len(r.size) {
			n := copy(r.size[r.nsize:], p)
			r.nsize += n
			p = p[n:]
			if r.nsize < len(r.size) {
				return nil
			}
			r.left = int(int32(binary.BigEndian.Uint32(r.size[:])))
			if cap(r.have) > mostKept {
				r.have = nil
			}
			r.have = r.have[:0]
			if r.left < r.least || r.left > r.most {
				return fmt.Errorf("it sent a frame of %d bytes, where %d to %d are expected", r.left, r.least, r.most)
			}
			continue
		}
		n := min(len(p), r.left)
		r.have = append(r.have, p[:n]...)
		r.left -= n
		p = p[n:]
		if r.left == 0 {
			r.nsize = 0
			if err := r.frame(r.have); err != nil {
				return err
			}
		}
	}
	return nil
}
