package workload

import (
	"context"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// Shares of the cycles of a recipe that go to its spare lock, and of those that close
// their client instead of releasing.
const (
	relayed = 0.1
	closes  = 0.1
)

// relayWithin is how long a client waits for the spare lock to be nobody's.
const relayWithin = 50 * time.Millisecond

// spare are the locks of a recipe that one client at a time uses: when something may
// have been left at one, by a call that failed, they go on to the next.
type spare struct {
	locks  []string
	baton  chan struct{} // capacity 1: who has sent uses one of the locks, and what follows
	soiled int           // how often something may have been left at one
}

// newSpare makes n of them.
func newSpare(recipe histories.Recipe, n int) *spare {
	name := "spare-" + string(recipe)
	if recipe == histories.Mutex {
		name = "spare" // it is older than the other recipes'
	}
	return &spare{locks: numbered(name, n), baton: make(chan struct{}, 1)}
}

// spare returns that of a recipe which has one.
func (r *run) spare(recipe histories.Recipe) *spare {
	for _, g := range r.groups {
		if g.Recipe == recipe {
			return g.spare
		}
	}
	return nil
}

// relay tries a lock that only the one who has the baton uses: whoever comes has it
// at once when the one before has given it back, or has closed its client. Elsewhere
// somebody is in the way more often than not, and a try that is refused shows
// nothing.
func (c *client) relay(ctx context.Context, s *spare, plan cycle, claimed func(name string) claim) error {
	waiting, cancel := context.WithTimeout(ctx, relayWithin)
	defer cancel()
	select {
	case s.baton <- struct{}{}:
		defer func() { <-s.baton }()
	case <-waiting.Done():
		return nil
	}
	name := s.locks[s.soiled%len(s.locks)]
	plan.way, plan.hold, plan.crash = wayTry, 0, false
	closing := plan.more.Float64() < closes
	h, err := c.get(ctx, plan, claimed(name))
	if h == nil {
		s.soiled++
		return err
	}
	before, clean := c.current(), false
	if closing && !c.hosted() && len(c.home.members) == 1 && c.holds() == 1 && !h.isLost() && !c.underFault() {
		clean = c.leave(h)
	} else {
		h.finish(ctx, plan, []lock.Lease{h.lease})
		clean = c.current() == before && !h.isLost()
	}
	if !clean {
		s.soiled++
	}
	return nil
}

// underFault reports whether a fault in force hits the client.
func (c *client) underFault() bool {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	for _, s := range c.run.active {
		if len(s.fault.Clients) == 0 || slices.Contains(s.fault.Clients, c.index) {
			return true
		}
	}
	return false
}

// leave gives back what the client holds by closing it in good order. It reports
// whether that was done.
func (c *client) leave(h *hold) bool {
	e := histories.Event{Type: histories.Closing, Process: h.event.Process, Session: h.event.Session}
	h.end(e)
	ctx, cancel := context.WithTimeout(c.run.life, closeWithin)
	defer cancel()
	began := time.Now()
	if err := c.close(ctx); err != nil {
		e.Type = histories.Crash
		c.record(e)
		c.retire()
		return false
	}
	if time.Since(began) > c.run.cfg.SessionTimeout/4 {
		return false // the target may have given up waiting for the servers
	}
	e.Type = histories.Closed
	c.record(e)
	return true
}
