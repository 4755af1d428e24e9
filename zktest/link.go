package zktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"time"
)

// condition is what a link does. The zero condition is a healthy link.
type condition struct {
	refuse bool          // connections are closed, new ones are refused
	drop   [2]bool       // what is said is lost, by direction
	delay  time.Duration // on top of the ensemble's latency, each way
}

// way is a direction.
type way int

const (
	request way = iota // from the client to the server
	reply              // from the server to the client
)

// link carries the connections of a client to a server. The engine's mutex guards it.
type link struct {
	engine    *engine
	client    *Client
	server    int
	latency   time.Duration
	rand      *rand.Rand
	condition condition
	changed   chan struct{} // closed and replaced when condition is set
	conns     []*conn       // that have not ended on both sides
}

// set changes what the link does. Connections that have lost something cannot go on when
// it is whole again.
func (l *link) set(c condition) {
	l.condition = c
	for _, conn := range slices.Clone(l.conns) {
		if c.refuse || conn.lost[request] && !c.drop[request] || conn.lost[reply] && !c.drop[reply] {
			conn.cut()
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// disconnect closes the connections that are open now.
func (l *link) disconnect() {
	for _, conn := range slices.Clone(l.conns) {
		conn.cut()
	}
}

// trip is how long something takes one way.
func (l *link) trip() time.Duration {
	d := l.condition.delay + l.latency
	if l.latency > 0 {
		d += time.Duration(l.rand.Int64N(int64(l.latency) + 1))
	}
	return d
}

// after has something happen after one way.
func (l *link) after(d time.Duration, what func()) {
	l.engine.cluster.At(l.engine.cluster.Now()+d, what)
}

var (
	errRefused = errors.New("connection refused")
	errStopped = errors.New("the test's ensemble has ended")
)

// dial opens a connection. Nobody answers while the link drops something.
func (l *link) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: address(addr), Err: err}
	}
	for {
		c := newConn(l, addr)
		answered := make(chan bool, 1)
		var changed chan struct{}
		if !l.engine.do(func() {
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
		case <-l.engine.ended:
			return fail(errStopped)
		case <-ctx.Done():
			_ = c.Close()
			return fail(context.Cause(ctx))
		}
	}
}

// knock asks the server for a connection; the answer takes a way there and back.
func (l *link) knock(c *conn, answered chan<- bool) {
	there, back := l.trip(), l.trip()
	l.after(there, func() {
		d := l.condition
		if d.drop[request] || d.drop[reply] || c.isClosed() {
			return
		}
		open := !d.refuse && c.accept()
		l.after(back, func() {
			if l.condition.drop[reply] {
				c.lost[reply] = true
				return
			}
			answered <- open
		})
	})
}
