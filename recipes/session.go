package recipes

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// session is one ZooKeeper session on a zk.Conn of its own. go-zookeeper would
// open a new session on the same Conn after an expiry and run in it what was
// queued in the old one (its own Lock is granted twice that way). Here the Conn
// is closed with its first session, so no request can change sessions.
//
// Goroutines: one drains the Conn's events and ends with its loop; one beats
// (heartbeat.go) and ends with the session; one more closes the Conn.
type session struct {
	client *Client
	conn   *zk.Conn
	id     int64         // valid once established is closed
	ready  chan struct{} // closed: established
	ended  chan struct{} // closed: no request of this session can succeed any more
	quit   context.Context
	stop   context.CancelFunc      // cancels quit
	dials  context.Context         // ends with the session: dials, and waits for them
	noDial context.CancelCauseFunc // cancels dials
	wg     sync.WaitGroup
	beats  heartbeat
	watch  watches
	calls  chan struct{} // a place for each request under way, see call

	givenUp givenUp

	mu        sync.Mutex
	timeout   time.Duration // negotiated
	seen      evidence
	up        bool
	changed   chan struct{} // closed and replaced whenever up changes
	over      bool          // ended is closed
	addr      string        // dialed last
	link      *wireConn     // the current connection
	holds     map[*hold]struct{}
	waiting   map[string]struct{} // paths of own nodes in queues, for the heartbeat
	lines     map[lineKey]*line
	zxids     map[string]int64 // of creates under way, by guid; 0 until answered
	suspended bool

	heard      time.Time   // send time of the last request that a server answered
	introduced bool        // the listeners know of the session
	lostBy     time.Time   // the leases' deadline in a suspension, if there is one
	giveUp     *time.Timer // runs during a suspension
}

func startSession(c *Client) (*session, error) {
	s := &session{
		client:  c,
		ready:   make(chan struct{}),
		ended:   make(chan struct{}),
		changed: make(chan struct{}),
		timeout: c.cfg.sessionTimeout,
		holds:   make(map[*hold]struct{}),
		waiting: make(map[string]struct{}),
		lines:   make(map[lineKey]*line),
		calls:   make(chan struct{}, maxCalls),
		zxids:   make(map[string]int64),
	}
	s.quit, s.stop = context.WithCancel(context.Background())
	s.dials, s.noDial = context.WithCancelCause(s.quit)
	s.beats.nudge = make(chan struct{}, 1)
	conn, events, err := zk.Connect(c.servers, c.cfg.sessionTimeout,
		zk.WithDialer(s.dial),
		zk.WithHostProvider(&hosts{over: s.ended}),
		zk.WithEventCallback(s.event),
		zk.WithMaxConnBufferSize(4+c.cfg.maxPacket),
		zk.WithLogger(failures{s}),
		zk.WithLogInfo(false))
	if err != nil {
		s.stop()
		return nil, err
	}
	s.conn = conn
	s.wg.Go(func() {
		for range events { // closed when the Conn's loop has ended
		}
	})
	s.wg.Go(s.closeWhenEnded)
	s.wg.Go(s.beat)
	return s, nil
}

// dial is called by the Conn's loop whenever it has no connection. It returns
// when the session ends.
func (s *session) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	s.mu.Lock()
	timeout := s.timeout
	patience := timeout / 3
	s.addr, s.link = addr, nil
	s.mu.Unlock()
	if err := s.client.pace.await(s.dials, timeout); err != nil {
		return nil, err
	}
	s.client.attempting(addr)
	ctx, cancel := context.WithTimeout(s.dials, patience)
	defer cancel()
	conn, err := s.client.cfg.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := newWireConn(conn, s, patience, s.client.cfg.maxPacket+slack)
	s.mu.Lock()
	s.link = w
	over := s.over
	s.mu.Unlock()
	if over {
		conn.Close()
		return nil, errSessionEnded
	}
	return w, nil
}

// connected implements wireTap: a server answered the connect request.
func (s *session) connected(sent time.Time, h handshake) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := h.implausible(s.id, s.timeout); err != nil {
		return err
	}
	s.client.succeeded()
	s.heard = sent
	if s.id != 0 && h.expired() {
		s.client.pace.expired()
		s.endLocked(LossSessionExpired)
		return nil
	}
	s.client.pace.established()
	if s.id != 0 {
		s.seen.reconnected(sent)
		s.shortenLocked(h.timeout)
		return nil
	}
	s.id, s.timeout = h.session, h.timeout
	s.seen.tick = s.client.cfg.tick
	if s.seen.tick == 0 {
		s.seen.tick = min(2*time.Second, s.timeout/2)
	}
	s.seen.established(sent)
	close(s.ready)
	return nil
}

// shortenLocked takes in the timeout that a reconnect has granted. Servers whose
// maxSessionTimeout was lowered count the session down by the new one from then on
// (SessionTrackerImpl.touchSession). A longer one is not relied on: the next server may
// grant less again.
func (s *session) shortenLocked(timeout time.Duration) {
	if timeout >= s.timeout {
		return
	}
	s.timeout = timeout
	left := time.Until(s.deadlineLocked())
	for h := range s.holds {
		h.timer.Reset(left)
	}
	s.nudge() // beats are due more often
}

// answered implements wireTap.
func (s *session) answered(sent, at time.Time, confirmedWrite bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if confirmedWrite {
		s.seen.confirmed(sent)
		s.client.pace.confirmed()
	}
	s.seen.answered(sent, at)
	s.heard = sent
}

// event is called by two goroutines of the Conn and must not block.
func (s *session) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.State {
	case zk.StateHasSession:
		s.setUpLocked(true)
	case zk.StateDisconnected:
		s.setUpLocked(false)
	case zk.StateExpired:
		s.endLocked(LossSessionExpired)
	case zk.StateAuthFailed:
		s.endLocked(LossNotAuthenticated)
	}
}

func (s *session) setUpLocked(up bool) {
	if s.up == up {
		return
	}
	s.up = up
	close(s.changed)
	s.changed = make(chan struct{})
	if !up && s.client.cfg.policy == LoseOnSuspend {
		s.loseAllLocked(LossLinkSuspended)
	}
	s.suspendLocked(!up)
	s.nudge()
}

// suspendLocked tells the holders that their session cannot reach its leader,
// or can again.
func (s *session) suspendLocked(suspended bool) {
	if s.over || s.suspended == suspended {
		return
	}
	s.suspended = suspended
	s.tellSuspendedLocked(suspended)
	notify := s.client.cfg.observer.Suspended
	if !suspended {
		notify = s.client.cfg.observer.Resumed
	}
	if notify == nil {
		return
	}
	for h := range s.holds {
		l := h.outermost
		s.client.notify.post(func() { notify(l) })
	}
}

// end ends the session for its client, whose leases are lost for that reason. The
// servers may not know yet.
func (s *session) end(why LossReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(why)
}

func (s *session) endLocked(why LossReason) {
	if s.over {
		return
	}
	s.loseAllLocked(why) // may still start goroutines of the session
	s.over = true
	s.tellEndedLocked()
	close(s.ended)
	s.noDial(errSessionEnded)
}

func (s *session) loseAllLocked(why LossReason) {
	for h := range s.holds {
		h.loseLocked(why)
	}
}

// closeWhenEnded closes the Conn once the session has ended, which frees what
// waits in it, and then whatever connection is left. One on which no server has
// answered yet is closed first: nobody could be told over it.
func (s *session) closeWhenEnded() {
	<-s.ended
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil && !link.isShaken() {
		link.Close()
	}
	s.conn.Close()
	s.stop()
	s.reconnect() // which the Conn does no more
}

// spawn runs f in a goroutine of the session, unless the session is over:
// close waits for what was started before.
func (s *session) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.wg.Go(f)
	return true
}

// close ends the session and waits for its goroutines. While it is connected
// the servers are told, so that its nodes vanish at once.
func (s *session) close() {
	s.end(LossClientClosed)
	s.wg.Wait()
}

// reconnect drops the current connection: the Conn goes on to the next server.
func (s *session) reconnect() {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil {
		link.Close()
	}
}

// currentTimeout is the negotiated session timeout.
func (s *session) currentTimeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// deadline is the instant at which leases of this session stop being safe.
func (s *session) deadline() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadlineLocked()
}

func (s *session) deadlineLocked() time.Time { return s.seen.deadline(s.timeout) }

// link state: change returns whether the session is connected, and a channel
// that is closed when that changes.
func (s *session) linkState() (up bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up, s.changed
}

// awaitUp waits until the session is connected.
func (s *session) awaitUp(ctx context.Context) error {
	for {
		up, changed := s.linkState()
		select {
		case <-s.ended:
			return errSessionEnded
		default:
		}
		if up {
			return nil
		}
		select {
		case <-changed:
		case <-s.ended:
			return errSessionEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// hosts hands out the servers in random order, again and again. go-zookeeper's
// own provider makes every round of attempts cost a second.
type hosts struct {
	over <-chan struct{}

	mu      sync.Mutex
	servers []string
	next    int
}

func (h *hosts) Init(servers []string) error {
	if len(servers) == 0 {
		return errors.New("recipes: no servers")
	}
	h.servers = append([]string(nil), servers...)
	rand.Shuffle(len(h.servers), func(i, j int) { h.servers[i], h.servers[j] = h.servers[j], h.servers[i] })
	return nil
}

func (h *hosts) Len() int { return len(h.servers) }

// Next asks for the second's rest only when the session is over: that is where
// the Conn's loop looks whether it has been closed.
func (h *hosts) Next() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server := h.servers[h.next%len(h.servers)]
	h.next++
	select {
	case <-h.over:
		return server, true
	default:
		return server, false
	}
}

func (h *hosts) Connected() {}
