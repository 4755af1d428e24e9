package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// Session is one ZooKeeper session on a zk.Conn of its own. After an expiry go-zookeeper
// would open a new session on the same Conn and run in it the requests that were queued in
// the old one (its own Lock is granted twice that way). Here the Conn is closed with its
// first session, so no request can change sessions.
//
// Goroutines: one drains the Conn's events and ends with its loop; one beats, with up to
// maxChains more (heartbeat.go), and they end with the session; one waits for the alarm
// (wake.go), if there is one, and ends with the session; one more closes the Conn.
type Session struct {
	*common
	Conn        *zk.Conn                // for requests: see Call
	ID          int64                   // valid once ready is closed
	ready       chan struct{}           // closed: established
	Ended       chan struct{}           // closed: no request of this session can succeed any more
	Quit        context.Context         // ends when the Conn has been closed, after Ended
	stop        context.CancelFunc      // cancels Quit
	dials       context.Context         // ends with the session: dials, and waits for them
	noDial      context.CancelCauseFunc // cancels dials
	wg          sync.WaitGroup
	nudges      chan struct{} // capacity 1: beat now
	calls       chan struct{} // a place for each request under way, see Call
	putOff      *lane         // of requests
	beatsPutOff *lane         // of the requests of heartbeats, which must not wait for others
	watches     watches
	zxids       zxids
	kept        sync.Map // see Keep

	lastZxid atomic.Int64          // of the latest answer: the session has seen all transactions up to it
	alarm    Alarm                 // nil: none
	refused  atomic.Pointer[error] // why the servers refuse the client; nil: they do not

	mu         sync.Mutex    // in the order of doc.go
	timeout    time.Duration // negotiated
	seen       evidence
	up         bool
	changed    chan struct{} // closed and replaced whenever up changes, or watches may be missing
	over       bool          // Ended is closed
	hangUps    int           // connect requests in a row on which servers have hung up
	addr       string        // dialed last
	link       *wireConn     // the current connection
	held       map[Dependent]struct{}
	waiting    map[string]struct{} // paths of own nodes, for the heartbeat
	rooms      Room                // of own nodes: from before they are created until they are gone
	room       int                 // the sum of rooms
	chainTook  time.Duration       // how long the latest chain of evidence took
	suspension suspension
	pulse      pulse
	alarmSet   bool
}

// Keep returns the value that the session keeps under a key for as long as the session is
// used. It creates the value if there is none.
func (s *Session) Keep(key any, create func() any) any {
	value, ok := s.kept.Load(key)
	if !ok {
		value, _ = s.kept.LoadOrStore(key, create())
	}
	return value
}

// end ends the session for its client, and tells the dependents why. The servers may not
// know yet.
func (s *Session) end(why Loss) {
	s.With(func(l Locked) { l.end(why) })
}

// closeWhenEnded closes the Conn once the session has ended, which releases the requests
// that wait in it, and then any connection that is left. A connection on which no server
// has answered yet is closed first: no server could be told over it.
func (s *Session) closeWhenEnded() {
	<-s.Ended
	if s.alarm != nil {
		s.alarm.Close()
	}
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil && !link.isShaken() {
		link.Close()
	}
	s.Conn.Close()
	s.stop()
	s.reconnect() // closes the connection; the Conn makes no other
}

// Spawn runs f in a goroutine of the session, unless the session is over. close waits for
// the goroutines that were started before.
func (s *Session) Spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.wg.Go(f)
	return true
}

// close ends the session and waits for its goroutines. If it is connected the servers are
// told, so that its nodes vanish at once.
func (s *Session) close() {
	s.end(ClientClosed)
	s.wg.Wait()
}

// reconnect drops the current connection. The Conn goes on to the next server.
func (s *Session) reconnect() {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil {
		link.Close()
	}
}

// Nudge makes the heartbeat beat now.
func (s *Session) Nudge() {
	select {
	case s.nudges <- struct{}{}:
	default:
	}
}

// Track makes the heartbeat run for nodes of the session until Untrack.
func (s *Session) Track(nodes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, node := range nodes {
		s.waiting[node] = struct{}{}
	}
}

// Untrack ends what Track began.
func (s *Session) Untrack(nodes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, node := range nodes {
		delete(s.waiting, node)
	}
}

// Listable returns the number of children with names of this length that fit into one
// answer. A client that asks for a larger list gets ErrTooLarge.
func (s *Session) Listable(name int) int {
	const rest = replyHeader + 4 + 68 // their count, and the status of the node
	return (s.cfg.MaxPacket - rest) / (4 + name)
}

// LoseNode loses the leases that stand on a node that is known to be gone.
func (s *Session) LoseNode(path string) {
	s.With(func(l Locked) { l.loseNode(path) })
}

// Timeout returns the negotiated session timeout.
func (s *Session) Timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// Remaining returns the time until the deadline. It is 0 or less after the deadline.
func (s *Session) Remaining() time.Duration {
	var at time.Time
	s.With(func(l Locked) { at = l.Deadline() })
	return at.Sub(s.cfg.Clock.Now())
}

// Deadline returns the instant, by Go's clock, at which leases of this session stop being
// safe. It comes closer by as long as the machine sleeps.
func (s *Session) Deadline() (at time.Time) {
	s.With(func(l Locked) { at = l.Deadline() })
	if slept := s.cfg.Clock.Slept(); slept > 0 {
		now := time.Now() // its wall clock went on during the sleep, its monotonic clock did not
		return now.Add(at.Sub(now) - slept)
	}
	return at
}

// Now returns the time by the session's clock.
func (s *Session) Now() time.Time { return s.cfg.Clock.Now() }

// LinkState reports whether the session is connected. It also returns a channel that is
// closed when that changes, or when watches may be missing.
func (s *Session) LinkState() (up bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up, s.changed
}

// AwaitUp waits until the session is connected.
func (s *Session) AwaitUp(ctx context.Context) error {
	for {
		up, changed := s.LinkState()
		select {
		case <-s.Ended:
			return ErrEnded
		default:
		}
		if up {
			return nil
		}
		select {
		case <-changed:
		case <-s.Ended:
			return ErrEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// AwaitEvidence waits until the session's deadline lies ahead. A grant seen after the
// deadline proves nothing: the servers may already have expired the session and granted the
// lock to another client. node is the node of the grant, which was tracked. AwaitEvidence
// returns ErrNodeGone when a heartbeat has found that another client has deleted the node:
// no lease can stand on it, and no other heartbeat need come if it was the only one.
func (s *Session) AwaitEvidence(ctx context.Context, node string) error {
	for {
		select {
		case <-s.Ended:
			return ErrEnded
		default:
		}
		s.mu.Lock()
		_, there := s.waiting[node]
		pause := s.seen.tick/4 + time.Millisecond // a chain takes longer
		s.mu.Unlock()
		if !there {
			return ErrNodeGone
		}
		if s.Remaining() > 0 {
			return nil
		}
		s.Nudge()
		select {
		case <-time.After(pause):
		case <-s.Ended:
			return ErrEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
