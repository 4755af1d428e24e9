package session

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// heartbeat keeps the evidence of a session fresh while it has nodes in queues.
// A beat is a multi with a check of such nodes: a write that changes nothing,
// which only a leader with a quorum answers. What it proves, evidence.go says;
// wire.go sees the answer.
type heartbeat struct{ s *Session }

// maxChecks bounds the size of one beat.
const maxChecks = 64

// beatInterval is six beats a timeout: with the touches a tick apart, one beat may
// be lost without the lease.
func beatInterval(timeout time.Duration) time.Duration { return timeout / 6 }

// beat is the session's heartbeat goroutine; it ends with the session.
func (b heartbeat) beat() {
	s := b.s
	select {
	case <-s.ready:
	case <-s.Ended:
		return
	}
	timeout := s.Timeout()
	ticker := time.NewTicker(beatInterval(timeout))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.nudges:
		case <-s.Ended:
			return
		}
		if now := s.Timeout(); now < timeout {
			timeout = now
			ticker.Reset(beatInterval(timeout))
		}
		up, _ := s.LinkState()
		if !up {
			continue
		}
		if paths := b.checkPaths(); len(paths) > 0 {
			b.once(paths, timeout)
		}
	}
}

// checkPaths picks the nodes to check: those of leases, in turn when there are
// many, or else of one contender.
func (b heartbeat) checkPaths() []string {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for d := range s.held { // map order: each has its turn
		if paths = append(paths, d.Paths()...); len(paths) >= maxChecks {
			random.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
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

// once sends one beat and waits for its answer. A beat in flight holds back
// all later requests of the session, so when it is not answered for a third of
// the timeout the server has probably lost its leader, and the session, still
// alive, moves to another.
func (b heartbeat) once(paths []string, timeout time.Duration) {
	s := b.s
	ops := make([]any, len(paths))
	for i, path := range paths {
		ops[i] = &zk.CheckVersionRequest{Path: path, Version: -1}
	}
	type result struct {
		responses []zk.MultiResponse
		err       error
	}
	done := make(chan result, 1)
	if !s.Spawn(func() {
		responses, err := s.Conn.Multi(ops...)
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
			s.With(func(l Locked) { l.suspend(!s.up) })
			if errors.Is(r.err, zk.ErrNoNode) {
				b.nodesGone(paths, r.responses)
			}
			return
		case <-overdue.C:
			s.With(func(l Locked) { l.suspend(true) })
		case <-stuck.C:
			s.reconnect()
		case <-s.Ended:
			return
		}
	}
}

// nodesGone handles a beat that found a node missing. The one that failed the
// check is gone for certain: if a lease stands on it, it is lost.
func (b heartbeat) nodesGone(paths []string, responses []zk.MultiResponse) {
	i := slices.IndexFunc(responses, func(r zk.MultiResponse) bool { return errors.Is(r.Error, zk.ErrNoNode) })
	if i < 0 || i >= len(paths) {
		return
	}
	b.s.With(func(l Locked) {
		delete(b.s.waiting, paths[i])
		l.loseNode(paths[i])
		b.s.Nudge()
	})
}
