package recipes_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/recipes"
)

// TestTheConnectionBreaksAtEveryRequest cuts the connection at each request of
// every call of every recipe: before the server gets it, and when the server has carried it out
// and its reply is on the way. The call continues, and its result agrees with the state of the
// servers: CURATOR-45, -335, -462, -678, kazoo #429, accumulo #637.
func TestTheConnectionBreaksAtEveryRequest(t *testing.T) {
	onEveryTrial(t, apart, func(s *stage, prepare func(*stage) trial, points []point) {
		for _, at := range points {
			for _, side := range at.sides() {
				s.breakAt(prepare, at, side, cut, nil)
			}
		}
	})
}

// TestTheSessionEndsAtEveryRequest: no lock is granted in a session that has ended, and no node
// of such a session is adopted: CURATOR-498, -604, -206, etcd #11456, zk.Lock.
func TestTheSessionEndsAtEveryRequest(t *testing.T) {
	needServers(t)
	onEveryTrial(t, apart, func(s *stage, prepare func(*stage) trial, points []point) {
		for _, at := range points {
			for _, side := range at.sides() {
				var gone atomic.Int64 // written by the connection's goroutine
				s.breakAt(prepare, at, side, func() bool {
					id, password := s.wire.credentials()
					gone.Store(id)
					if err := ensemble.Expire(s.Context(), ensemble.Server{Addr: addrsOf(s.T)[0]}, id, password, timeout); err != nil {
						s.Error(err)
					}
					return false
				}, &gone)
			}
		}
	})
}

// breakAt runs a call and breaks its connection at one of its requests. ended is the session that
// is ended there, if any.
func (s *stage) breakAt(prepare func(*stage) trial, at point, side side, act func() bool, ended *atomic.Int64) {
	s.Helper()
	defer func() {
		if s.Failed() {
			s.Fatalf("broken at: %s, %s", at, side)
		}
	}()
	tr := s.begins(prepare)
	bare := s.nodes()
	var blocker releaser
	if tr.block != nil {
		blocker = s.must(tr.block)
	}
	standing, watches := s.nodes(), s.asked.Load()
	p := newPrompter(at, side, act)
	p.on(s.wire)
	ctx, cancel := context.WithCancel(within(s.T))
	defer cancel()
	done := calling(ctx, tr.call)
	if blocker != nil && tr.refused == nil {
		s.watched(watches)
		p.turn(at.phase.asWaitEnds())
		if at.phase == cleaning {
			cancel()
		} else {
			s.release(blocker)
			blocker = nil
		}
	}
	o := s.await(done)
	lost := func(err error) bool { return ended != nil && errors.Is(err, recipes.ErrLeaseLost) }
	switch {
	case at.phase == cleaning:
		if !errors.Is(o.err, context.Canceled) {
			s.Errorf("a cancelled call returns %v, %v", o.lease, o.err)
		}
	case tr.refused != nil:
		if !errors.Is(o.err, tr.refused) {
			s.Errorf("the call returns %v, %v, want %v", o.lease, o.err, tr.refused)
		}
	case o.err != nil:
		if !lost(o.err) { // a downgrade of a lost write lease
			s.Errorf("the call returns %v", o.err)
		}
	default:
		s.holds(o.lease, tr, bare, ended)
		p.turn(releasing)
		if err := o.lease.Release(within(s.T)); err != nil && !lost(err) {
			s.Errorf("the release returns %v", err)
		}
	}
	if blocker != nil {
		s.leaves(standing)
		s.release(blocker)
	}
	if ended != nil && ended.Load() != 0 {
		bare = slices.DeleteFunc(bare, func(string) bool { return tr.mine })
	}
	s.ends(tr, bare)
}

// holds checks that the nodes of a lease exist and belong to its session, and that there are no
// other nodes; or else that the loss of the lease is told.
func (s *stage) holds(l releaser, tr trial, bare []string, ended *atomic.Int64) {
	s.Helper()
	var leases []*recipes.Lease
	switch l := l.(type) {
	case *recipes.Lease:
		leases = append(leases, l)
	case *recipes.MultiLease:
		leases = l.Leases()
	}
	for _, l := range leases {
		if ended != nil && ended.Load() != 0 && l.SessionID() == ended.Load() {
			<-l.Lost() // it may have been granted before the end of the session was known
			return
		}
		if !l.Valid() {
			s.Errorf("the lease is not valid: %v", l.State())
		}
		ok, stat, err := s.conn.Exists(l.Node())
		if !ok && err == nil && !l.Valid() {
			return // this process stood still until its session expired, and the lease is lost
		}
		if err != nil || !ok || stat.EphemeralOwner != l.SessionID() {
			s.Errorf("the lease's node: %v, %v, owner %x, session %x", ok, err, stat.EphemeralOwner, l.SessionID())
		}
	}
	if n := len(s.nodes()); ended == nil && n != len(bare)+tr.nodes {
		s.Errorf("%d nodes, want %d and %d", n, len(bare), tr.nodes)
	}
}
