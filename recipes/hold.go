package recipes

import (
	"context"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// hold is one owner's possession of a lock. The owner's lease and its re-entries share it.
type hold struct {
	queue.Grant
	registry  *registry
	key       ownership
	since     time.Time
	outermost *Lease
	lost      chan struct{}
	ended     chan struct{}  // closed when released or lost
	timer     *time.Timer    // fires at the deadline
	writes    sync.WaitGroup // guarded requests under way; none begins after the hold is over

	mu     sync.Mutex // in the order of internal/session/doc.go
	depth  int        // leases not yet released
	leases []*Lease   // the leases not yet released, to cancel their contexts
	isLost bool
	why    session.Loss
	over   bool // released or lost

	revoke   map[*byte]func() // listeners
	watched  bool             // for revocation
	asked    bool             // a request has been seen
	told     int32            // the version of the node's data that held the last request
	answered int32            // the version up to which there is no request to the leader of an election
}

// newHold starts the lease of a contender whose turn it is. The time asked is that of the
// acquire's call. newHold fails when the session's deadline has passed, or when its link is down
// and the client has LoseOnSuspend. revoked, if not nil, is called on requests to release.
func newHold(ctx context.Context, r *registry, on queue.Grant, key ownership, revoked func(*Lease), asked time.Time) (*hold, error) {
	h := &hold{
		Grant: on, registry: r, key: key, since: time.Now(), depth: 1,
		lost: make(chan struct{}), ended: make(chan struct{}),
	}
	h.outermost = h.newLease(ctx, 1)
	var err error
	on.S.With(func(s session.Locked) {
		var left time.Duration
		if left, err = s.Left(); err != nil {
			return
		}
		s.Add(h)
		h.timer = time.AfterFunc(left, h.atDeadline)
		r.acquired(h.outermost, h.since.Sub(asked))
		if revoked != nil {
			h.outermost.onRevoke(s, revoked)
		}
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// newLease makes a lease of the hold. The hold is locked or not yet shared.
func (h *hold) newLease(ctx context.Context, depth int) *Lease {
	l := &Lease{hold: h, depth: depth, released: make(chan struct{}), result: make(chan struct{})}
	ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	outer := ownerOf(ctx).leases
	l.ctx = context.WithValue(ctx, ownerKey{}, owner{id: h.key.owner, leases: append(outer[:len(outer):len(outer)], l)})
	h.leases = append(h.leases, l)
	return l
}

// reenter returns a lease of the next depth, or nil when the hold is over.
func (h *hold) reenter(ctx context.Context) (l *Lease) {
	h.S.With(func(s session.Locked) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.over || s.Remaining() <= 0 {
			return
		}
		h.depth++
		l = h.newLease(ctx, h.depth)
	})
	return l
}

// atDeadline runs at the deadline that the timer was last set to.
func (h *hold) atDeadline() {
	h.S.With(func(s session.Locked) {
		if s.Over() {
			return // lost with it
		}
		if left := s.Remaining(); left > 0 {
			h.timer.Reset(left)
			return
		}
		h.Lose(s, session.DeadlinePassed)
	})
}

// Paths implements session.Dependent.
func (h *hold) Paths() []string { return h.Nodes }

// Remind implements session.Dependent.
func (h *hold) Remind(left time.Duration) { h.timer.Reset(left) }

// Suspend implements session.Dependent.
func (h *hold) Suspend(suspended bool) { h.registry.suspended(h.outermost, suspended) }

// Lose implements session.Dependent: it ends the hold because of a loss.
func (h *hold) Lose(s session.Locked, why session.Loss) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	h.over, h.isLost, h.why = true, true, s.Why(why)
	s.Remove(h)
	if h.timer != nil {
		h.timer.Stop()
	}
	close(h.lost)
	close(h.ended)
	for _, l := range h.leases {
		l.cancel(ErrLeaseLost)
		if l.whenLost != nil {
			l.whenLost()
		}
	}
	// A lock node that remains would only make other contenders wait. It is deleted in another
	// goroutine, since the session is locked here. Every caller has checked that the session is
	// not over.
	s.Spawn(func() {
		h.registry.drop(h)
		h.writes.Wait()
		h.Release(true)
	})
	h.registry.lost(h.outermost, lossReasons[h.why], time.Since(h.since))
}

// open reports whether the hold is neither released nor lost.
func (h *hold) open() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.over && !h.isLost
}

// reason returns the reason of a loss, also of one that the deadline's timer has not reported yet.
func (h *hold) reason() (why LossReason) {
	h.S.With(func(s session.Locked) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if why = lossReasons[h.why]; !h.isLost {
			why = lossReasons[s.Why(session.DeadlinePassed)]
		}
	})
	return why
}
