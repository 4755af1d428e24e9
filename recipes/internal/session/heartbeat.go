package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// heartbeat keeps the evidence of a session fresh by beats. A beat is a chain of
// evidence.go: four syncs, and then a multi with a check of nodes of the session, a write
// that changes nothing. wire.go counts its answers, with those to all other requests.
//
// A beat checks every node that a lease stands on, so that a holder whose node is deleted
// is told within a beat, no matter how many leases the session has. More than maxChecks
// nodes take several multis, which are sent together.
//
// A session without nodes in queues makes no write. Its chains lack the last answer, which
// the next create gives: its first acquire after a long time need not wait for a chain.
//
// A chain takes more than half a tick and five round trips, which may be longer than the
// interval between beats: chains overlap then. Each runs in a goroutine of the session and
// ends with the last answer, with its connection or with the session.
type heartbeat struct{ s *Session }

// maxChains bounds how many chains are under way.
const maxChains = 6

// maxChecks bounds how many nodes one multi of a beat checks. A multi has fewer if their
// paths are long: it must fit into a packet.
const maxChecks = 500

// checkSize is the size of a check in a request besides its path, and multiSize the size of the
// request besides the checks: headers of ops, of the request and of its end.
const (
	checkSize = 9 + 4 + 4
	multiSize = 4 + 8 + 9
)

// beatInterval returns the interval between beats. There are six in a timeout: the evidence
// for a lease is at most an interval and a chain old.
func beatInterval(timeout time.Duration) time.Duration { return timeout / 6 }

// idleBeats is the number of intervals from one beat to the next in a session without nodes
// in queues, if chains are quick.
const idleBeats = 3

// idleBeats returns that number for this session. When an acquire ends a rest, the evidence is
// at most as old as these intervals and a chain. It must last for another interval and another
// chain.
func (l Locked) idleBeats() int {
	timeout := l.s.timeout
	room := timeout - margin(timeout) - beatInterval(timeout) - 2*l.chainTime()
	return min(max(1, int(room/beatInterval(timeout))), idleBeats)
}

// chainTime returns how long the latest chain took, or the least that a chain takes.
func (l Locked) chainTime() time.Duration {
	least := time.Duration(0)
	for answers := range links {
		least += l.s.seen.spacing(answers)
	}
	return max(least, l.s.chainTook)
}

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
	places := make(chan struct{}, maxChains)
	var latest chan struct{} // closed when the latest chain has ended
	var on *wireConn         // the connection of that chain
	for since := idleBeats; ; {
		nudged := false
		select {
		case <-ticker.C:
			since++
		case <-s.nudges:
			nudged = true
		case <-s.Ended:
			return
		}
		if now := s.Timeout(); now < timeout {
			timeout = now
			ticker.Reset(beatInterval(timeout))
		}
		var link *wireConn
		var every int
		s.With(func(l Locked) { link, every = l.upLink(), l.idleBeats() })
		idle := len(b.checkPaths()) == 0
		if link == nil || idle && (nudged || since < every) {
			continue
		}
		if nudged {
			b.check() // a reconnect counts at once
			if link == on && !isClosed(latest) {
				continue
			}
		}
		select {
		case places <- struct{}{}:
		default:
			continue
		}
		done := make(chan struct{})
		if !s.Spawn(func() { b.chain(link); close(done); <-places }) {
			return
		}
		latest, on, since = done, link, 0
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// chain makes the requests of one chain of evidence on a connection. It gives up when that
// is gone: the chain is of no use any more.
func (b heartbeat) chain(link *wireConn) {
	began := b.s.cfg.Clock.Now()
	for answers := range links - 1 {
		if !b.pause(b.spacing(answers), link) || !b.ask(b.sync) {
			return
		}
	}
	b.check()
	b.s.With(func(l Locked) {
		if l.upLink() == link {
			b.s.chainTook = b.s.cfg.Clock.Now().Sub(began)
		}
	})
}

func (b heartbeat) sync() error {
	_, err := beating(b, func() (string, error) { return b.s.Conn.Sync("/") })
	return err
}

// beating makes a request of a beat. A request that a server puts off is made again until
// the next beat is due.
func beating[T any](b heartbeat, request func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(b.s.Quit, beatInterval(b.s.Timeout()))
	defer cancel()
	return ask(b.s, b.s.beatsPutOff, ctx.Done(), request)
}

func (b heartbeat) spacing(answers int) time.Duration {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	return b.s.seen.spacing(answers)
}

// pause waits between two requests of a chain. It returns false when the connection is gone.
func (b heartbeat) pause(d time.Duration, link *wireConn) bool {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-b.s.Ended:
		return false
	}
	var now *wireConn
	b.s.With(func(l Locked) { now = l.upLink() })
	return now == link
}

// checkPaths returns the nodes to check: those of leases, or, without leases, the node of
// one contender.
func (b heartbeat) checkPaths() []string {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for d := range s.held {
		paths = append(paths, d.Paths()...)
	}
	if len(paths) == 0 {
		for path := range maps.Keys(s.waiting) {
			return []string{path}
		}
	}
	return paths
}

// packets splits paths into groups, each for the checks of one multi in a packet of at most
// maxPacket bytes.
func packets(paths []string, maxPacket int) (all [][]string) {
	size := maxPacket // so that the first path begins a packet
	for _, path := range paths {
		size += checkSize + len(path)
		if last := len(all) - 1; last < 0 || len(all[last]) == maxChecks || size > maxPacket {
			all, size = append(all, nil), multiSize+checkSize+len(path)
		}
		all[len(all)-1] = append(all[len(all)-1], path)
	}
	return all
}

// check asks the leader whether the nodes of the session exist, if it has any in queues.
func (b heartbeat) check() {
	all := packets(b.checkPaths(), b.s.cfg.MaxPacket)
	if len(all) == 0 {
		return
	}
	b.ask(func() error {
		errs := make([]error, len(all))
		var rest sync.WaitGroup
		for i, paths := range all[1:] {
			rest.Go(func() { errs[i+1] = b.checkTogether(paths) })
		}
		errs[0] = b.checkTogether(all[0])
		rest.Wait()
		return cmp.Or(errs...)
	})
}

// checkTogether asks the leader about some nodes by one request.
func (b heartbeat) checkTogether(paths []string) error {
	ops := make([]any, len(paths))
	for i, path := range paths {
		ops[i] = &zk.CheckVersionRequest{Path: path, Version: -1}
	}
	responses, err := beating(b, func() ([]zk.MultiResponse, error) { return b.s.Conn.Multi(ops...) })
	if errors.Is(err, zk.ErrNoNode) {
		b.nodesGone(paths, responses)
	}
	return err
}

// ask makes one request of a beat and waits for its answer; it reports whether the request
// has succeeded. A request under way holds back all later requests of the session. So when
// it is not answered for a third of the timeout the server has probably lost its leader,
// and the session, still alive, moves to another server.
func (b heartbeat) ask(request func() error) bool {
	s := b.s
	timeout := s.Timeout()
	done := make(chan error, 1)
	if !s.Spawn(func() { done <- request() }) {
		return false
	}
	overdue := time.NewTimer(beatInterval(timeout))
	defer overdue.Stop()
	stuck := time.NewTimer(timeout / 3)
	defer stuck.Stop()
	for {
		select {
		case err := <-done:
			s.With(func(l Locked) { l.suspend(!s.up) })
			return err == nil
		case <-overdue.C:
			s.With(func(l Locked) { l.suspend(true) })
		case <-stuck.C:
			s.reconnect()
		case <-s.Ended:
			return false
		}
	}
}

// nodesGone handles a beat that found a node missing. The node that failed the check is
// gone for certain: a lease that stands on it is lost.
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
