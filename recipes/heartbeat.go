package recipes

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// heartbeat keeps the evidence of a session fresh while it has nodes in queues.
// A beat is a multi with a check of such nodes: a write that changes nothing,
// which only a leader with a quorum answers. What it proves, evidence.go says;
// wire.go sees the answer.
type heartbeat struct {
	nudge chan struct{} // capacity 1: beat now
}

// maxChecks bounds the size of one beat.
const maxChecks = 64

func (s *session) nudge() {
	select {
	case s.beats.nudge <- struct{}{}:
	default:
	}
}

// interval is six beats a timeout: with the touches a tick apart, one beat may
// be lost without the lease.
func beatInterval(timeout time.Duration) time.Duration { return timeout / 6 }

// beat is the session's heartbeat goroutine; it ends with the session.
func (s *session) beat() {
	select {
	case <-s.ready:
	case <-s.ended:
		return
	}
	timeout := s.currentTimeout()
	ticker := time.NewTicker(beatInterval(timeout))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.beats.nudge:
		case <-s.ended:
			return
		}
		if now := s.currentTimeout(); now < timeout {
			timeout = now
			ticker.Reset(beatInterval(timeout))
		}
		up, _ := s.linkState()
		if !up {
			continue
		}
		if paths := s.checkPaths(); len(paths) > 0 {
			s.beatOnce(paths, timeout)
		}
	}
}

// checkPaths picks the nodes to check: those of leases, in turn when there are
// many, or else of one contender.
func (s *session) checkPaths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for h := range s.holds { // map order: every hold has its turn
		if paths = append(paths, h.nodes...); len(paths) >= maxChecks {
			rand.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
			return paths[:maxChecks]
		}
	}
	if len(paths) == 0 {
		for path := range maps.Keys(s.waiting) {
			return []string{path}
		}
	}
	return paths
}

// beatOnce sends one beat and waits for its answer. A beat in flight holds back
// all later requests of the session, so when it is not answered for a third of
// the timeout the server has probably lost its leader, and the session, still
// alive, moves to another.
func (s *session) beatOnce(paths []string, timeout time.Duration) {
	ops := make([]any, len(paths))
	for i, path := range paths {
		ops[i] = &zk.CheckVersionRequest{Path: path, Version: -1}
	}
	type result struct {
		responses []zk.MultiResponse
		err       error
	}
	done := make(chan result, 1)
	if !s.spawn(func() {
		responses, err := s.conn.Multi(ops...)
		done <- result{responses, err}
	}) {
		return
	}
	overdue := time.NewTimer(beatInterval(timeout))
	defer overdue.Stop()
	stuck := time.NewTimer(timeout / 3)
	defer stuck.Stop()
	for {
		select {
		case r := <-done:
			s.mu.Lock()
			s.suspendLocked(!s.up)
			s.mu.Unlock()
			if errors.Is(r.err, zk.ErrNoNode) {
				s.nodesGone(paths, r.responses)
			}
			return
		case <-overdue.C:
			s.mu.Lock()
			s.suspendLocked(true)
			s.mu.Unlock()
		case <-stuck.C:
			s.reconnect()
		case <-s.ended:
			return
		}
	}
}

// nodesGone handles a beat that found a node missing. The one that failed the
// check is gone for certain: if a lease stands on it, it is lost.
func (s *session) nodesGone(paths []string, responses []zk.MultiResponse) {
	i := slices.IndexFunc(responses, func(r zk.MultiResponse) bool { return errors.Is(r.Error, zk.ErrNoNode) })
	if i < 0 || i >= len(paths) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, paths[i])
	s.loseNodeLocked(paths[i])
	s.nudge()
}

// loseNode loses the leases that stand on a node that is known to be gone.
func (s *session) loseNode(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loseNodeLocked(path)
}

func (s *session) loseNodeLocked(path string) {
	for h := range s.holds {
		if slices.Contains(h.nodes, path) {
			h.loseLocked(LossNodeDeleted)
		}
	}
}

// track makes the heartbeat run for a contender's node until untrack.
func (s *session) track(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[node] = struct{}{}
}

func (s *session) untrack(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, node)
}

// awaitEvidence waits until the session's deadline lies ahead: a grant seen
// after the deadline proves nothing, the servers may already have expired the
// session and granted to another.
func (s *session) awaitEvidence(ctx context.Context) error {
	for {
		select {
		case <-s.ended:
			return errSessionEnded
		default:
		}
		if time.Now().Before(s.deadline()) {
			return nil
		}
		s.nudge()
		s.mu.Lock()
		pause := s.seen.tick/4 + time.Millisecond
		s.mu.Unlock()
		select {
		case <-time.After(pause):
		case <-s.ended:
			return errSessionEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
