package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// State is the state of a lease.
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

// Lease is a lock that is held. Any goroutine may call its methods. The time for which a lease is
// safe depends only on the requests that the leader is known to have received, not on the client's
// attempts to connect or their results.
type Lease struct {
	hold   *hold
	depth  int
	ctx    context.Context
	cancel context.CancelCauseFunc

	once     sync.Once
	released chan struct{} // closed when Release is called
	result   chan struct{} // closed when err is known
	err      error
	wasLost  bool   // it was lost when it was released; locked by the hold
	whenLost func() // called when it is lost, if not nil; locked by the hold
}

// Token returns the lease's fencing token. A re-entry has the token of the
// outermost lease.
func (l *Lease) Token() Token { return Token{Zxid: l.hold.Zxid, Sub: l.hold.Sub} }

// Path returns the lock's path.
func (l *Lease) Path() string { return l.hold.key.path }

// Node returns the path of the lock node, for Multi(Check(node), …). A lease of
// several permits has several; this is the first.
func (l *Lease) Node() string { return l.hold.Nodes[0] }

// Permits returns the number of permits of a semaphore that the lease holds; 1 for other
// locks.
func (l *Lease) Permits() int { return l.hold.Permits }

// SessionID returns the ZooKeeper session that the lease belongs to.
func (l *Lease) SessionID() int64 { return l.hold.S.ID }

// Depth returns 1 for an outermost lease, 2 for its re-entry, and so on.
func (l *Lease) Depth() int { return l.depth }

// Lost returns a channel that is closed once exclusivity is no longer guaranteed, which is before
// the servers can grant the lock to another client. When an administrator ends the session or
// deletes the lock node, it is closed within one heartbeat (a sixth of the session timeout, or
// six tenths of the servers' tick if that is longer, see WithServerTick) and one round trip. It
// stays open when the lease is released first.
func (l *Lease) Lost() <-chan struct{} { return l.hold.lost }

// Valid reports, by the clock, whether exclusivity is guaranteed now. Its answer is right also in
// the first instant after a pause of the process and, on Linux, after a sleep of the machine. It
// takes a system call, about 0.2 µs.
func (l *Lease) Valid() bool {
	return l.open() && l.hold.S.Remaining() > 0
}

// Deadline returns the instant, to compare with time.Now, at which the lease will be lost unless
// the client hears from the servers before. Every heartbeat moves it on; on Linux a sleep of the
// machine brings it closer by the length of the sleep.
func (l *Lease) Deadline() time.Time { return l.hold.S.Deadline() }

// State returns the state of the lease now. A lease that was lost before it was released stays
// Lost.
func (l *Lease) State() (state State) {
	l.hold.S.With(func(s session.Locked) {
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
			state = Lost
		case released:
			state = Released
		case l.hold.isLost || s.Remaining() <= 0:
			state = Lost
		case s.Suspended():
			state = Suspended
		default:
			state = Held
		}
	})
	return state
}

// Err returns nil while the lease is held or suspended, by the clock as Valid, an error that wraps
// [ErrLeaseLost] and the [LossReason] when it was lost, and [ErrNotHeld] when it was released
// before a loss.
func (l *Lease) Err() error {
	switch l.State() {
	case Lost:
		return fmt.Errorf("%w: %w", ErrLeaseLost, l.hold.reason())
	case Released:
		return ErrNotHeld
	}
	return nil
}

// open reports whether the lease and its hold have not ended.
func (l *Lease) open() bool {
	select {
	case <-l.released:
		return false
	default:
	}
	return l.hold.open()
}

// Context returns a context with the values, but not the deadline, of the one that acquired the
// lease. It is cancelled with the cause [ErrLeaseLost] when the lease is lost, and with
// [ErrNotHeld] when it is released. Acquiring with it, from any goroutine, re-enters.
func (l *Lease) Context() context.Context { return l.ctx }

// Release gives the lease back; the lock is free once every lease of the owner has been released.
// The lease is over when Release is called, even if Release returns an error: the error describes
// the state of the lock node. A second call waits for the same result.
//
// When ctx ends first, Release returns its cause; when a server refuses to delete the node, it
// returns the server's error, a [ServerError]. It returns [ErrLeaseLost] when the lease had been
// lost, when another client deleted its node, and when the lease's deadline passes before the
// servers have answered: so it never waits longer than the lease could have lasted. In each case
// the client continues in the background until the lock node is gone. A release that hands the lock
// on within the client ([WithLocalHandoff]) asks no server, and returns nil.
//
// When the session ends before the servers have answered, Release returns nil: the servers delete
// the node with the session. If the client is closed without a connection, or if a leader that the
// other servers had just deposed reported the end, the node remains for one more session timeout at
// most.
func (l *Lease) Release(ctx context.Context) error {
	l.start()
	select {
	case <-l.result:
		return l.err
	default:
	}
	for {
		left := l.hold.S.Remaining()
		if left <= 0 {
			return opError("release", l.Path(), errUnconfirmed)
		}
		deadline := time.NewTimer(left)
		select {
		case <-l.result:
			deadline.Stop()
			return l.err
		case <-deadline.C: // unless it has moved on
		case <-ctx.Done():
			deadline.Stop()
			return opError("release", l.Path(), l.hold.registry.sessions.Explain(ctx, context.Cause(ctx)))
		}
	}
}

// errUnconfirmed is the error of a release that the servers have not answered in time.
var errUnconfirmed = fmt.Errorf("%w: its deadline passed before the servers confirmed the release", ErrLeaseLost)

// start begins the release, if it has not begun: the lease is over when start returns, and a
// goroutine of the session deletes the lock node.
func (l *Lease) start() {
	l.once.Do(func() {
		lost, last := l.end()
		l.cancel(ErrNotHeld) // before the next contender's turn
		release := func() { l.release(lost, last) }
		if !l.hold.S.Spawn(release) {
			release() // the session is over, so there is no request to wait for
		}
	})
}

// end takes the lease out of its hold, and loses the hold first if its deadline has passed. It
// reports whether the hold had been lost, and whether this was its last lease.
func (l *Lease) end() (lost, last bool) {
	h := l.hold
	h.S.With(func(s session.Locked) {
		if !s.Over() && s.Remaining() <= 0 {
			h.Lose(s, session.DeadlinePassed) // its timer is late
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		close(l.released)
		h.depth--
		h.leases = slices.DeleteFunc(h.leases, func(other *Lease) bool { return other == l })
		l.wasLost = h.isLost
		lost, last = h.isLost, h.depth == 0 && !h.over
		if !last {
			return
		}
		h.over = true
		s.Remove(h)
		h.timer.Stop()
		close(h.ended)
		h.registry.released(h.outermost, time.Since(h.since))
	})
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
	h.registry.drop(h)
	h.writes.Wait() // they come before the requests of the next one, or are over
	// The release goes on until the session ends; then the servers delete the node.
	var refused *ServerError
	if err := h.Release(false); errors.Is(err, zk.ErrNoNode) {
		l.err = opError("release", l.Path(), ErrLeaseLost)
	} else if errors.As(err, &refused) {
		l.err = opError("release", l.Path(), h.registry.sessions.Permission(err, h.Nodes...))
	}
}

// String returns the lock's path, the lease's token and its state, so that %v and log/slog do not
// print the lease's fields, which change.
func (l *Lease) String() string {
	return fmt.Sprintf("lease of %s, token %v, %v", l.Path(), l.Token(), l.State())
}
