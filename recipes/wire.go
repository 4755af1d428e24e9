package recipes

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// Operation codes and reply codes of ZooKeeper's protocol that matter here.
const (
	opCreate          = 1
	opDelete          = 2
	opSetData         = 5
	opMulti           = 14
	opCreateContainer = 19
	xidPing           = -2
)

// wireConn reads along what go-zookeeper sends and receives on one connection:
// it alone knows when a request really left and which session answered.
// go-zookeeper writes each packet in one call.
type wireConn struct {
	net.Conn
	tap         wireTap
	handshakeBy time.Time // the connect reply must be here by then

	mu        sync.Mutex
	connectAt time.Time  // when the connect request left; zero before
	shaken    bool       // the connect reply is here
	pending   []wireCall // sent and not answered, oldest first

	in frameReader
}

type wireCall struct {
	xid, op int32
	sent    time.Time
}

// wireTap is told of what passes a connection. Its methods must not block.
type wireTap interface {
	connected(sent time.Time, sessionID int64, timeout time.Duration)
	answered(sent, at time.Time, confirmedWrite bool)
	created(path string, zxid int64)
}

func newWireConn(conn net.Conn, tap wireTap, handshake time.Duration) *wireConn {
	w := &wireConn{Conn: conn, tap: tap, handshakeBy: time.Now().Add(handshake)}
	w.in.frame = w.reply
	return w
}

func (w *wireConn) Write(p []byte) (int, error) {
	w.request(p, time.Now()) // before the write: it may be answered before Write returns
	return w.Conn.Write(p)
}

func (w *wireConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.in.feed(p[:n])
	return n, err
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
		xid:  int32(binary.BigEndian.Uint32(p[4:])),
		op:   int32(binary.BigEndian.Uint32(p[8:])),
		sent: now,
	})
}

// reply takes the first bytes of one frame from the server.
func (w *wireConn) reply(head []byte) {
	now := time.Now()
	w.mu.Lock()
	if !w.shaken {
		w.shaken = true
		sent := w.connectAt
		w.mu.Unlock()
		// int protocol, int timeout in ms, long session id
		if len(head) >= 16 {
			w.tap.connected(sent,
				int64(binary.BigEndian.Uint64(head[8:])),
				time.Duration(int32(binary.BigEndian.Uint32(head[4:])))*time.Millisecond)
		}
		return
	}
	defer w.mu.Unlock()
	// int xid, long zxid, int err
	if len(head) < 16 {
		return
	}
	xid := int32(binary.BigEndian.Uint32(head))
	code := int32(binary.BigEndian.Uint32(head[12:]))
	zxid := int64(binary.BigEndian.Uint64(head[4:]))
	for i, c := range w.pending {
		if c.xid != xid {
			continue
		}
		// Replies come in the order of the requests, so what is still ahead
		// will not be answered, but for authentication, which jumps the queue:
		// forgetting those is safe, it only loses evidence.
		w.pending = append(w.pending[:0], w.pending[i+1:]...)
		w.tap.answered(c.sent, now, code == 0 && isWrite(c.op))
		if path := createdPath(c.op, head[16:]); code == 0 && path != "" {
			w.tap.created(path, zxid)
		}
		return
	}
}

// createdPath returns the path in the reply to a create, or to a multi that
// begins with one, and "" for other replies and for paths that are cut off.
//
// The header of such a reply has the transaction of the create itself:
// FinalRequestProcessor takes the zxid that the tree has processed last, right
// after it has applied this one, and CommitProcessor applies writes one by one.
// So a token needs no request of its own.
func createdPath(op int32, body []byte) string {
	if op == opMulti {
		const header = 9 // int type, bool done, int err
		if len(body) < header || binary.BigEndian.Uint32(body) != opCreate {
			return ""
		}
		body = body[header:]
	} else if op != opCreate {
		return ""
	}
	if len(body) < 4 {
		return ""
	}
	n := int(int32(binary.BigEndian.Uint32(body)))
	if body = body[4:]; n < 0 || n > len(body) {
		return ""
	}
	return string(body[:n])
}

// isWrite reports whether a reply to op proves that a leader with a quorum
// carried it out (CommitProcessor.needCommit). sync does not: a leader without
// a quorum answers it.
func isWrite(op int32) bool {
	switch op {
	case opCreate, opDelete, opSetData, opMulti, opCreateContainer:
		return true
	}
	return false
}

// maxHead is how much of a frame is looked at: its header and a path.
const maxHead = 1024

// frameReader splits a stream into length-prefixed frames and hands out the
// head of each, as soon as the frame is whole.
type frameReader struct {
	frame func(head []byte)
	size  [4]byte
	nsize int
	head  []byte
	left  int // bytes of the frame still to come
}

func (r *frameReader) feed(p []byte) {
	for len(p) > 0 {
		if r.nsize < len(r.size) {
			n := copy(r.size[r.nsize:], p)
			r.nsize += n
			p = p[n:]
			if r.nsize == len(r.size) {
				r.left = int(int32(binary.BigEndian.Uint32(r.size[:])))
				r.head = r.head[:0]
				if r.left <= 0 {
					r.nsize = 0
				}
			}
			continue
		}
		n := min(len(p), r.left)
		r.head = append(r.head, p[:min(n, maxHead-len(r.head))]...)
		r.left -= n
		p = p[n:]
		if r.left == 0 {
			r.nsize = 0
			r.frame(r.head)
		}
	}
}
