package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/internal/seeded"
)

// way is a direction.
type way int

const (
	request way = iota // from the client to the server
	reply              // from the server to the client
)

// Link carries the connections of a client to a server, in memory. Methods that change it
// must be called within Do, except Dial.
type Link struct {
	live      *Live
	server    int
	ip        string
	latency   time.Duration
	spread    float64
	rand      *rand.Rand
	granted   func(session int64)
	condition cluster.Condition
	changed   chan struct{} // closed and replaced when condition is set
	conns     []*conn       // that have not ended on both sides

	awaited func(reply bool, data []byte) bool // reports the message at which next is called; nil for none
	next    func()
}

// LinkConfig holds the options of a link.
type LinkConfig struct {
	Server  int           // the number of the server at its end
	IP      string        // the client's address, as the server sees it
	Latency time.Duration // the least time that a message takes, each way
	Spread  float64       // bounds the time on top of it, as a multiple of Latency, drawn evenly
	Seed    uint64        // decides the time of each message
	// Granted, if not nil, is called with each session that the server grants to a connection. It
	// must not call back.
	Granted func(session int64)
}

// NewLink returns a healthy link.
func (l *Live) NewLink(c LinkConfig) *Link {
	return &Link{
		live: l, server: c.Server, ip: c.IP, latency: c.Latency, spread: c.Spread, granted: c.Granted, changed: make(chan struct{}),
		rand: seeded.Rand(c.Seed, uint64(c.Server)),
	}
}

// Server returns the number of the server at the link's end.
func (l *Link) Server() int { return l.server }

// Set changes the link's condition. Connections that have lost data cannot go on when the
// link is whole again, and are closed. Data that was held back is sent at once, in order.
func (l *Link) Set(c cluster.Condition) {
	l.condition, l.awaited = c, nil
	for _, conn := range slices.Clone(l.conns) {
		conn.said = 0
		if c.Refuse || conn.lost[request] && !l.drops(request) || conn.lost[reply] && !l.drops(reply) {
			conn.cut()
			continue
		}
		conn.backlog.Release(c)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// CallAt calls do before a message is carried, of either side: the first for which at reports true,
// unless the link is changed before. Neither must call back.
func (l *Link) CallAt(at func(reply bool, data []byte) bool, do func()) { l.awaited, l.next = at, do }

// carries notes that a message is about to be carried.
func (l *Link) carries(w way, data []byte) {
	if l.awaited != nil && l.awaited(w == reply, data) {
		l.awaited = nil
		l.next()
	}
}

// Condition returns the link's condition.
func (l *Link) Condition() cluster.Condition { return l.condition }

// Disconnect closes the connections that are open now.
func (l *Link) Disconnect() {
	for _, conn := range slices.Clone(l.conns) {
		conn.cut()
	}
}

// Newest returns the newest open connection, 0 if none is open.
func (l *Link) Newest() (id model.ConnID) {
	for _, conn := range l.conns {
		if !conn.over {
			id = max(id, conn.id)
		}
	}
	return id
}

func (l *Link) drops(w way) bool {
	if w == request {
		return l.condition.DropRequests
	}
	return l.condition.DropReplies
}

// trip returns the time that a message takes one way.
func (l *Link) trip(w way) time.Duration {
	d := l.latency
	if more := int64(float64(l.latency) * l.spread); more > 0 {
		d += time.Duration(l.rand.Int64N(more + 1))
	}
	if l.condition.RepliesOnly && w == request {
		return d
	}
	d += l.condition.Latency
	if j := l.condition.Jitter; j > 0 {
		d += time.Duration(l.rand.Int64N(2*int64(j)+1)) - j
	}
	return d
}

// transmission returns the time for which a message of so many bytes keeps the link busy.
func (l *Link) transmission(size int) (d time.Duration) {
	if r := l.condition.Rate; r > 0 {
		d = time.Duration(size) * time.Second / time.Duration(r)
	}
	return d + l.condition.Pause
}

// after calls what after the time d.
func (l *Link) after(d time.Duration, what func()) {
	l.live.Cluster.At(l.live.Cluster.Now()+d, what)
}

var (
	errRefused = errors.New("connection refused")
	errStopped = errors.New("the simulated ensemble has ended")
)

// Dial opens a connection. It gets no answer while the link drops messages.
func (l *Link) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: address(addr), Err: err}
	}
	for {
		c := newConn(l, addr)
		answered := make(chan bool, 1)
		var changed chan struct{}
		if !l.live.Do(func() {
			changed = l.changed
			l.knock(c, answered)
		}) {
			return fail(errStopped)
		}
		select {
		case open := <-answered:
			if open {
				return c, nil
			}
			return fail(fmt.Errorf("server %d: %w (%w)", l.server, errRefused, syscall.ECONNREFUSED))
		case <-changed: // as if the packets were sent again
			_ = c.Close()
		case <-l.live.ended:
			return fail(errStopped)
		case <-ctx.Done():
			_ = c.Close()
			return fail(context.Cause(ctx))
		}
	}
}

// knock asks the server for a connection; the answer takes a round trip.
func (l *Link) knock(c *conn, answered chan<- bool) {
	there, back := l.trip(request), l.trip(reply)
	l.after(there, func() {
		if l.drops(request) || l.drops(reply) || c.isClosed() {
			return
		}
		open := !l.condition.Refuse && c.accept()
		l.after(back, func() {
			if l.drops(reply) {
				c.lost[reply] = true
				return
			}
			answered <- open
		})
	})
}
