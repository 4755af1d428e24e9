package inprocess

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// Wire is the network of one client, from its start to its crash or close. It reads the
// handshakes that pass to know the session, and can be torn down.
type Wire struct {
	servers map[string]int // server ID by the address of the client's link
	dialer  links.Dialer   // opens connections
	timeout time.Duration  // caps dialing and handshakes
	changed chan struct{}  // holds a token when the session may have changed
	// Report, if set before the first dial, is called with every change of the results of
	// Credentials and SessionTimeout, in order. It must not call back.
	Report  func(session int64, password []byte, granted time.Duration, server int)
	tries   attempts
	repeats *repeats

	mu       sync.Mutex
	torn     bool
	conns    map[*wireConn]struct{}
	latest   *wireConn // the connection that had the last good handshake
	session  int64
	password []byte
	granted  time.Duration // session timeout
	sent     time.Time     // the last request that was more than a ping
	answers  int           // to requests that were more than pings, and to connect requests
}

// NewWire returns the network of a client. servers are the IDs of servers by the addresses
// that the client dials by dialer; timeout caps dialing and handshakes. members is the number of
// clients of the run that share the client.
func NewWire(servers map[string]int, dialer links.Dialer, timeout time.Duration, members int) *Wire {
	return &Wire{
		servers: servers, dialer: dialer, timeout: timeout, changed: make(chan struct{}, 1), conns: make(map[*wireConn]struct{}),
		tries: attempts{window: histories.ConnectWindow(timeout)}, repeats: newRepeats(histories.ConnectWindow(timeout), members),
	}
}

// Dial implements Env.Dial.
func (w *Wire) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	torn := w.torn
	w.mu.Unlock()
	if torn {
		return nil, lock.ErrCrashed // a crashed client makes no more attempts
	}
	w.tries.note(time.Now())
	dialing, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	conn, err := w.dialer.DialContext(dialing, network, addr)
	if err != nil {
		return nil, err
	}
	c := &wireConn{Conn: conn, wire: w, server: w.servers[addr], shakeBy: time.Now().Add(w.timeout), asked: make(map[int32]uint64)}
	c.replies.body.SetSeed(w.repeats.seed)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		_ = conn.Close()
		return nil, lock.ErrCrashed
	}
	w.conns[c] = struct{}{}
	return c, nil
}

// Connects returns how often the client has tried to connect, and has asked again what it had been
// told.
func (w *Wire) Connects() histories.Connects {
	connects, again := w.tries.counted(), w.repeats.tally.counted()
	connects.Repeats, connects.RepeatsAgo = again.Most, again.Ago
	return connects
}

// Called notes that the application has called the client, or was told something by it.
func (w *Wire) Called() { w.repeats.forget() }

// Tear closes every connection and refuses new ones.
func (w *Wire) Tear() {
	w.mu.Lock()
	w.torn = true
	var open []*wireConn
	for c := range w.conns {
		open = append(open, c)
	}
	w.mu.Unlock()
	for _, c := range open {
		_ = c.Conn.Close()
	}
}

// Credentials returns the latest session, its password, and the server that the client is
// linked to in it now, 0 when there is none.
func (w *Wire) Credentials() (session int64, password []byte, server int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest != nil {
		server = w.latest.server
	}
	return w.session, w.password, server
}

// SessionTimeout returns the timeout that the servers have granted.
func (w *Wire) SessionTimeout() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.granted
}

// LastSent returns the time of the client's last request other than a ping.
func (w *Wire) LastSent() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// Answers returns the number of requests, pings excepted, that have been answered.
func (w *Wire) Answers() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answers
}

// Awake and Gone report that the process of the client, this one, runs.
func (w *Wire) Awake() bool { return true }
func (w *Wire) Gone() bool  { return false }

// established is called with the first good handshake of a connection.
func (w *Wire) established(c *wireConn, h handshake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest, w.session, w.password, w.granted = c, h.session, slices.Clone(h.password), h.timeout
	w.answers++
	w.reportLocked()
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *Wire) ended(c *wireConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
	if w.latest == c {
		w.latest = nil
		w.reportLocked()
	}
}

func (w *Wire) reportLocked() {
	if w.Report == nil {
		return
	}
	server := 0
	if w.latest != nil {
		server = w.latest.server
	}
	w.Report(w.session, w.password, w.granted, server)
}

// wireConn is one connection. Until the handshake is over it keeps the bytes that come, and
// caps the deadline: go-zookeeper would wait in the handshake with a server that does not
// answer for 6.7 session timeouts.
type wireConn struct {
	net.Conn
	wire    *Wire
	server  int
	shakeBy time.Time

	mu      sync.Mutex
	opened  bool   // the ConnectRequest has been sent
	asks    bool   // for the shortest session timeout, not for a session
	head    []byte // of the ConnectResponse
	done    bool   // it has come
	replies replies
	asked   map[int32]uint64 // requests without an answer, by number: hashes
}

func (c *wireConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.sniff(p[:n])
	}
	if err != nil && !isTimeout(err) {
		c.wire.ended(c)
	}
	return n, err
}

// askingTimeout is the longest timeout in the connect request of a client that only wants to
// know the servers' shortest session timeout, as those of recipes do once: the client does not
// use that session.
const askingTimeout = 100 * time.Millisecond

func (c *wireConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	const timeoutAt = 16 // length, version, zxid
	if !c.opened && len(p) >= timeoutAt+4 {
		asked := time.Duration(int32(binary.BigEndian.Uint32(p[timeoutAt:]))) * time.Millisecond
		c.asks = asked <= askingTimeout && c.wire.timeout > askingTimeout
	}
	if c.opened {
		maps.Copy(c.asked, c.wire.repeats.requests(p))
	}
	c.opened = true
	c.mu.Unlock()
	if len(p) > pingSize {
		c.wire.mu.Lock()
		c.wire.sent = time.Now()
		c.wire.mu.Unlock()
	}
	return c.Conn.Write(p)
}

// pingSize is the size of a ping: a length, a number and an operation.
const pingSize = 12

func (c *wireConn) Close() error {
	c.wire.ended(c)
	return c.Conn.Close()
}

func (c *wireConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	done := c.done
	c.mu.Unlock()
	if !done && (t.IsZero() || t.After(c.shakeBy)) {
		t = c.shakeBy
	}
	return c.Conn.SetReadDeadline(t)
}

// maxHead is more than any ConnectResponse needs.
const maxHead = 1 << 10

func (c *wireConn) sniff(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answers := 0
	c.replies.read(p, func(xid int32, answer uint64) {
		answers++
		if request, asked := c.asked[xid]; asked {
			delete(c.asked, xid)
			c.wire.repeats.answered(request, answer)
		}
	})
	if answers > 0 {
		c.wire.mu.Lock()
		c.wire.answers += answers
		c.wire.mu.Unlock()
	}
	if c.done {
		return
	}
	c.head = append(c.head, p...)
	h, whole := parseConnectResponse(c.head)
	if !whole && len(c.head) < maxHead {
		return
	}
	c.done, c.head = true, nil
	_ = c.Conn.SetReadDeadline(time.Time{}) // the wire had set the cap
	if h.session != 0 && !c.asks {
		c.wire.established(c, h)
	}
}

// handshake is a server's answer to a ConnectRequest. Session 0 refuses the session that was
// presented.
type handshake struct {
	session  int64
	password []byte
	timeout  time.Duration
}

// parseConnectResponse reads a ConnectResponse frame: length, protocol version,
// session timeout, session ID, password length, password.
func parseConnectResponse(b []byte) (h handshake, whole bool) {
	const fixed = 4 + 4 + 8 + 4
	if len(b) < 4 {
		return handshake{}, false
	}
	length := int(binary.BigEndian.Uint32(b))
	b = b[4:]
	if length < fixed || length > maxHead {
		return handshake{}, true // not a ConnectResponse
	}
	if len(b) < length {
		return handshake{}, false
	}
	n := int(binary.BigEndian.Uint32(b[16:]))
	if n > length-fixed {
		return handshake{}, true
	}
	return handshake{
		session:  int64(binary.BigEndian.Uint64(b[8:])),
		password: b[fixed : fixed+n],
		timeout:  time.Duration(binary.BigEndian.Uint32(b[4:])) * time.Millisecond,
	}, true
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
