package recipes

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// State says how a lease stands.
type State int

// The states of a lease.
const (
	Held      State = iota // exclusive, as far as can be known
	Suspended              // exclusive until the deadline; the session cannot reach its leader
	Lost                   // exclusivity is no longer guaranteed
	Released               // given back by its holder
)

// String returns the state's name in lower case.
func (s State) String() string {
	return [...]string{"held", "suspended", "lost", "released"}[s]
}

// hold is one owner's possession of a lock: what all the leases of its
// re-entries share.
type hold struct {
	claim
	client    *Client
	key       ownership
	cfg       *lockConfig
	since     time.Time
	outermost *Lease
	lost      chan struct{}
	ended     chan struct{}  // closed when released or lost
	timer     *time.Timer    // fires at the deadline
	writes    sync.WaitGroup // guarded requests under way; none begins when the hold is over

	mu     sync.Mutex // taken after the session's
	depth  int        // leases not yet released
	leases []*Lease   // those, to cancel their contexts
	isLost bool
	why    LossReason
	over   bool // released or lost

	revoke   map[*byte]func() // listeners
	watched  bool             // for revocation
	asked    bool             // a request has been seen
	answered int32            // the version of the node's data that it came with
}

// Lease is a lock that is held. Its methods may be called from any goroutine.
//
// How long it is safe depends on what the leader is known to have heard, and on
// nothing else: not on how often the client tries to connect, nor on what it
// finds there. While a client waits between two attempts (see [Connect]) its
// leases come to their deadlines as they do in any other silence.
type Lease struct {
	hold   *hold
	depth  int
	ctx    context.Context
	cancel context.CancelCauseFunc
	group  *MultiLease // of which it is a part; locked by the hold

	once     sync.Once
	released chan struct{} // closed when Release is called
	result   chan struct{} // closed when err is known
	err      error
	wasLost  bool // when it was released; locked by the hold
}

// newHold starts the lease of a contender whose turn it is, and who asked for it
// at a time. It fails when the session's deadline has passed, or its link is
// down and the policy is to lose leases then.
func newHold(ctx context.Context, client *Client, on claim, key ownership, cfg *lockConfig, asked time.Time) (*hold, error) {
	h := &hold{
		claim: on, client: client, key: key, cfg: cfg, since: time.Now(), depth: 1,
		lost: make(chan struct{}), ended: make(chan struct{}),
	}
	h.outermost = h.newLease(ctx, 1)
	s := on.s
	s.mu.Lock()
	defer s.mu.Unlock()
	left := time.Until(s.deadlineLocked())
	if s.over {
		return nil, errSessionEnded
	}
	if left <= 0 || !s.up && client.cfg.policy == LoseOnSuspend {
		return nil, errNotNow
	}
	s.holds[h] = struct{}{}
	h.timer = time.AfterFunc(left, h.atDeadline)
	if f := client.cfg.observer.Acquired; f != nil {
		waited := h.since.Sub(asked)
		client.notify.post(func() { f(h.outermost, waited) })
	}
	if cfg.revoked != nil {
		h.outermost.onRevokeLocked(cfg.revoked)
	}
	return h, nil
}

// newLease makes one lease of the hold, which is locked or not yet shared.
func (h *hold) newLease(ctx context.Context, depth int) *Lease {
	l := &Lease{hold: h, depth: depth, released: make(chan struct{}), result: make(chan struct{})}
	ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	outer := ownerOf(ctx).leases
	l.ctx = context.WithValue(ctx, ownerKey{}, owner{id: h.key.owner, leases: append(outer[:len(outer):len(outer)], l)})
	h.leases = append(h.leases, l)
	return l
}

// reenter returns a lease one deeper, or nil when the hold is over.
func (h *hold) reenter(ctx context.Context) *Lease {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || !time.Now().Before(s.deadlineLocked()) {
		return nil
	}
	h.depth++
	return h.newLease(ctx, h.depth)
}

// atDeadline runs when the deadline that was known has come.
func (h *hold) atDeadline() {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return // lost with it
	}
	if left := time.Until(s.deadlineLocked()); left > 0 {
		h.timer.Reset(left)
		return
	}
	h.loseLocked(LossDeadlinePassed)
}

// loseLocked ends the hold without its holder's doing. The session is locked.
func (h *hold) loseLocked(why LossReason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	h.over, h.isLost, h.why = true, true, why
	delete(h.s.holds, h)
	if h.timer != nil {
		h.timer.Stop()
	}
	close(h.lost)
	close(h.ended)
	for _, l := range h.leases {
		l.cancel(ErrLeaseLost)
		if l.group != nil {
			l.group.lose()
		}
	}
	// Whatever is left of the node would only keep others waiting. Not here:
	// the session is locked. Every caller has seen that it is not over.
	s := h.s
	s.wg.Go(func() {
		h.client.holds.drop(h)
		h.writes.Wait()
		h.release(true)
	})
	if f := h.client.cfg.observer.Lost; f != nil {
		held := time.Since(h.since)
		h.client.notify.post(func() { f(h.outermost, held) })
	}
}

// Token returns the lease's fencing token. A re-entry has the token of the
// outermost lease.
func (l *Lease) Token() Token { return l.hold.token }

// Path returns the lock's path.
func (l *Lease) Path() string { return l.hold.key.path }

// Node returns the path of the lock node, for Multi(Check(node), …). A lease of
// several permits has several; this is the first.
func (l *Lease) Node() string { return l.hold.nodes[0] }

// Permits returns how many permits of a semaphore the lease holds; 1 for other
// locks.
func (l *Lease) Permits() int { return l.hold.permits }

// SessionID returns the ZooKeeper session that the lease belongs to.
func (l *Lease) SessionID() int64 { return l.hold.s.id }

// Depth returns 1 for an outermost lease, 2 for its re-entry, and so on.
func (l *Lease) Depth() int { return l.depth }

// Lost returns a channel that is closed once exclusivity is no longer
// guaranteed: before the servers can give the lock to another, unless somebody
// ended the session or deleted the node from the side; then within one
// heartbeat (a sixth of the session timeout) and one round trip. It stays open
// when the lease is released first.
func (l *Lease) Lost() <-chan struct{} { return l.hold.lost }

// Valid asks the clock: is exclusivity guaranteed now? Unlike Lost it needs no
// goroutine to have run, so it is right also in the first instant after a pause
// of the process.
func (l *Lease) Valid() bool {
	return l.open() && time.Now().Before(l.hold.s.deadline())
}

// Deadline returns the instant at which the lease will be lost unless the
// servers are heard from before. It moves on with every heartbeat.
func (l *Lease) Deadline() time.Time { return l.hold.s.deadline() }

// State returns how the lease stands now. A lease that was lost before it was
// released stays Lost.
func (l *Lease) State() State {
	s := l.hold.s
	s.mu.Lock()
	defer s.mu.Unlock()
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	released := false
	select {
	case <-l.released:
		released = true
	default:
	}
	switch {
	case l.wasLost:
		return Lost
	case released:
		return Released
	case l.hold.isLost || !time.Now().Before(s.deadlineLocked()):
		return Lost
	case s.suspended:
		return Suspended
	}
	return Held
}

// open reports whether the hold is neither released nor lost.
func (h *hold) open() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.over && !h.isLost
}

// open reports whether neither the lease nor its hold has ended.
func (l *Lease) open() bool {
	select {
	case <-l.released:
		return false
	default:
	}
	return l.hold.open()
}

// Context returns a context with the values, but not the deadline, of the one
// that acquired the lease. It is cancelled with the cause [ErrLeaseLost] when
// the lease is lost, and with [ErrNotHeld] when it is released. It carries the
// owner: acquiring with it, from any goroutine, re-enters.
func (l *Lease) Context() context.Context { return l.ctx }

// Release gives the lease back; the lock is free once every lease of the owner
// has been released. The lease is over when Release is called, whatever it
// returns: the error tells what is known of the lock node. Calling it again
// waits for the same result.
//
// When ctx ends first, Release returns its cause and goes on in the background
// until the lock node is gone. It returns [ErrLeaseLost] when the lease had been
// lost, or its node was deleted by somebody else.
//
// When the session ends before the servers have answered, Release returns nil: they
// delete the node with the session. A client that is closed without a connection, or
// that was told of the end by a leader which the others had just deposed, leaves them
// the node for one more session timeout at most.
func (l *Lease) Release(ctx context.Context) error {
	l.start()
	select {
	case <-l.result:
		return l.err
	default:
	}
	select {
	case <-l.result:
		return l.err
	case <-ctx.Done():
		return opError("release", l.Path(), context.Cause(ctx))
	}
}

// start begins the release, if it has not begun: the lease is over when start
// returns, and the lock node goes in a goroutine that belongs to the session.
func (l *Lease) start() {
	l.once.Do(func() {
		close(l.released)
		lost, last := l.end()
		l.cancel(ErrNotHeld) // before the next one's turn
		release := func() { l.release(lost, last) }
		if !l.hold.s.spawn(release) {
			release() // the session is over: there is nothing to wait for
		}
	})
}

// end takes the lease out of its hold. It reports whether the hold had been lost,
// and whether this was its last lease.
func (l *Lease) end() (lost, last bool) {
	h := l.hold
	s := h.s
	s.mu.Lock()
	h.mu.Lock()
	h.depth--
	h.leases = slices.DeleteFunc(h.leases, func(other *Lease) bool { return other == l })
	l.wasLost = h.isLost
	lost, last = h.isLost, h.depth == 0 && !h.over
	if last {
		h.over = true
		delete(s.holds, h)
		h.timer.Stop()
		close(h.ended)
		if f := h.client.cfg.observer.Released; f != nil {
			held := time.Since(h.since)
			h.client.notify.post(func() { f(h.outermost, held) })
		}
	}
	h.mu.Unlock()
	s.mu.Unlock()
	return lost, last
}

// release deletes the lock node after the last lease.
func (l *Lease) release(lost, last bool) {
	h := l.hold
	defer close(l.result)
	if lost {
		l.err = opError("release", l.Path(), ErrLeaseLost)
		return
	}
	if !last {
		return
	}
	h.client.holds.drop(h)
	h.writes.Wait() // they come before whatever the next one sends, or are over
	if err := h.release(false); errors.Is(err, zk.ErrNoNode) {
		l.err = opError("release", l.Path(), ErrLeaseLost)
	} else if err != nil && !errors.Is(err, errSessionEnded) && h.s.quit.Err() == nil {
		l.err = opError("release", l.Path(), err)
	}
}
