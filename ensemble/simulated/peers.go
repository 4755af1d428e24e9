package simulated

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

// peerLink carries the connections that one server opens to another. It is a
// links.Link without an address: nothing but simulated servers passes it.
type peerLink struct {
	ensemble *Ensemble
	from, to int // IDs
	link     *cluster.Link
	closed   bool // guarded by the ensemble's mutex
}

func (e *Ensemble) openPeers() {
	for _, from := range e.servers {
		for _, to := range e.servers {
			if from != to {
				e.peers[[2]int{from.ID, to.ID}] = &peerLink{ensemble: e, from: from.ID, to: to.ID, link: e.cluster.Link(from.myid, to.myid)}
			}
		}
	}
}

// Peer returns the link that carries what server from has opened to server to; none when
// an ID is unknown. Cutting two servers apart takes Peer(a, b) and Peer(b, a).
func (e *Ensemble) Peer(from, to int) []links.Link {
	if l := e.peers[[2]int{from, to}]; l != nil {
		return []links.Link{l}
	}
	return nil
}

// message is how long a message between servers is taken to be, in bytes.
const message = 100

func (l *peerLink) Name() string { return fmt.Sprintf("peer-%d-%d", l.from, l.to) }

// Addr is no address: the link is inside this process.
func (l *peerLink) Addr() string { return "" }

func (l *peerLink) set(c cluster.Condition) error {
	err := links.ErrClosed
	l.ensemble.do(func() {
		if !l.closed {
			l.link.Set(c)
			err = nil
		}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name(), err)
	}
	return nil
}

func (l *peerLink) Cut(_ context.Context, cut links.Cut) error {
	switch cut {
	case links.Down:
		return l.set(cluster.Condition{Refuse: true})
	case links.BlackHole:
		return l.set(cluster.Condition{DropRequests: true, DropReplies: true})
	case links.RequestsLost:
		return l.set(cluster.Condition{DropRequests: true})
	case links.RepliesLost:
		return l.set(cluster.Condition{DropReplies: true})
	case links.Reset:
		return l.set(cluster.Condition{Reset: true})
	}
	return fmt.Errorf("%s: no cut %q", l.Name(), cut)
}

func (l *peerLink) Delay(_ context.Context, latency, jitter time.Duration) error {
	if latency < 0 || jitter < 0 || jitter > latency {
		return fmt.Errorf("%s: latency of %v ± %v", l.Name(), latency, jitter)
	}
	return l.set(cluster.Condition{Latency: latency, Jitter: jitter})
}

func (l *peerLink) DelayReplies(_ context.Context, latency time.Duration) error {
	if latency < 0 {
		return fmt.Errorf("%s: latency of %v", l.Name(), latency)
	}
	return l.set(cluster.Condition{Latency: latency, RepliesOnly: true})
}

// Throttle holds each message back for as long as its bytes take.
func (l *peerLink) Throttle(_ context.Context, bytesPerSecond int) error {
	if bytesPerSecond <= 0 {
		return fmt.Errorf("%s: %d bytes a second", l.Name(), bytesPerSecond)
	}
	return l.set(cluster.Condition{Latency: message * time.Second / time.Duration(bytesPerSecond)})
}

// Slice holds each message back for as long as the pauses between its pieces take.
func (l *peerLink) Slice(_ context.Context, size int, pause time.Duration) error {
	if size < 2 || pause < 0 {
		return fmt.Errorf("%s: slices of %d bytes every %v", l.Name(), size, pause)
	}
	return l.set(cluster.Condition{Latency: pause * time.Duration((message+size-1)/size)})
}

// Truncate closes each connection after as many messages as the bytes are.
func (l *peerLink) Truncate(_ context.Context, bytes int) error {
	if bytes < 1 {
		return fmt.Errorf("%s: truncated after %d bytes", l.Name(), bytes)
	}
	return l.set(cluster.Condition{Left: bytes/message + 1})
}

func (l *peerLink) Heal(context.Context) error { return l.set(cluster.Condition{}) }

func (l *peerLink) Close() error {
	l.ensemble.do(func() {
		l.closed = true
		l.link.Set(cluster.Condition{})
	})
	return nil
}
