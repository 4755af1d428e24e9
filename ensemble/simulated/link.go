package simulated

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

// link is a links.Link inside this process, from a client to a server or between two
// servers.
type link struct {
	name, addr string                       // servers' links have no address
	change     func(cluster.Condition) bool // false after the ensemble's Close
	strikeAt   func(at func(reply bool, data []byte) bool, cut bool, c cluster.Condition, do func()) bool
	forget     func() // called by Close; nil for nothing to forget

	mu     sync.Mutex // guards the fields below
	closed bool
}

func (l *link) Name() string { return l.name }
func (l *link) Addr() string { return l.addr }

func (l *link) set(c cluster.Condition) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || !l.change(c) {
		return fmt.Errorf("%s: %w", l.name, links.ErrClosed)
	}
	return nil
}

func (l *link) Cut(_ context.Context, cut links.Cut) error {
	c, err := l.cut(cut)
	if err != nil {
		return err
	}
	return l.set(c)
}

// HeldBack is a cut of links in memory alone: data is carried neither way until the link is healed, and
// none is lost.
const HeldBack links.Cut = "held-back"

// StrikeAt cuts a client's link at a message of either side, the first for which at reports true, unless
// cut is empty, and calls do. Neither function must use the ensemble. The cut affects that message
// already. It does nothing if the link is cut or healed before. Links between servers cannot be cut so.
func (l *link) StrikeAt(_ context.Context, at func(reply bool, data []byte) bool, cut links.Cut, do func()) error {
	var c cluster.Condition
	if cut != "" {
		var err error
		if c, err = l.cut(cut); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.strikeAt == nil:
		return fmt.Errorf("%s: nothing can be done at a message", l.name)
	case l.closed || !l.strikeAt(at, cut != "", c, do):
		return fmt.Errorf("%s: %w", l.name, links.ErrClosed)
	}
	return nil
}

func (l *link) cut(cut links.Cut) (cluster.Condition, error) {
	switch cut {
	case links.Down:
		return cluster.Condition{Refuse: true}, nil
	case links.BlackHole:
		return cluster.Condition{DropRequests: true, DropReplies: true}, nil
	case links.RequestsLost:
		return cluster.Condition{DropRequests: true}, nil
	case links.RepliesLost:
		return cluster.Condition{DropReplies: true}, nil
	case links.Reset:
		return cluster.Condition{Reset: true}, nil
	case HeldBack:
		return cluster.Condition{HoldRequests: true, HoldReplies: true}, nil
	}
	return cluster.Condition{}, fmt.Errorf("%s: no cut %q", l.name, cut)
}

func (l *link) Delay(_ context.Context, latency, jitter time.Duration) error {
	if latency < 0 || jitter < 0 || jitter > latency {
		return fmt.Errorf("%s: latency of %v ± %v", l.name, latency, jitter)
	}
	return l.set(cluster.Condition{Latency: latency, Jitter: jitter})
}

func (l *link) DelayReplies(_ context.Context, latency time.Duration) error {
	if latency < 0 {
		return fmt.Errorf("%s: latency of %v", l.name, latency)
	}
	return l.set(cluster.Condition{Latency: latency, RepliesOnly: true})
}

func (l *link) Stall(_ context.Context, requests, replies bool) error {
	if !requests && !replies {
		return fmt.Errorf("%s: a stall of neither direction", l.name)
	}
	return l.set(cluster.Condition{HoldRequests: requests, HoldReplies: replies})
}

// Throttle holds each message back for as long as its bytes take.
func (l *link) Throttle(_ context.Context, bytesPerSecond int) error {
	if bytesPerSecond <= 0 {
		return fmt.Errorf("%s: %d bytes a second", l.name, bytesPerSecond)
	}
	return l.set(cluster.Condition{Rate: bytesPerSecond})
}

// Slice carries bytes in pieces. A message between servers stays whole, and is held back
// for as long as the pauses take.
func (l *link) Slice(_ context.Context, size int, pause time.Duration) error {
	if size < 2 || pause < 0 {
		return fmt.Errorf("%s: slices of %d bytes every %v", l.name, size, pause)
	}
	return l.set(cluster.Condition{Slice: size, Pause: pause})
}

// Truncate closes each connection after so many bytes; between servers, after the message
// that has the last of them.
func (l *link) Truncate(_ context.Context, bytes int) error {
	if bytes < 1 {
		return fmt.Errorf("%s: truncated after %d bytes", l.name, bytes)
	}
	return l.set(cluster.Condition{Left: bytes})
}

func (l *link) Heal(context.Context) error { return l.set(cluster.Condition{}) }

func (l *link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.change(cluster.Condition{})
		if l.forget != nil {
			l.forget()
		}
	}
	return nil
}
