package workload

import (
	"context"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Shares of the cycles of a mutex that go to the spare lock, and of those that close
// their client instead of releasing.
const (
	relayed = 0.1
	closes  = 0.1
)

// relayWithin is how long a client waits for the spare lock to be nobody's.
const relayWithin = 50 * time.Millisecond

// spares is how many locks there are that one client at a time uses: when something
// may have been left at one, by a call that failed, they go on to the next.
const spares = 3

// spare returns the recipe's locks that one client at a time uses.
func (r *run) spare(recipe histories.Recipe) []string {
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
func (c *client) relay(ctx context.Context, locks []string, plan cycle) error {
	waiting, cancel := context.WithTimeout(ctx, relayWithin)
	defer cancel()
	select {
	case c.run.baton <- struct{}{}:
		defer func() { <-c.run.baton }()
	case <-waiting.Done():
		return nil
	}
	lock := locks[c.run.soiled%len(locks)]
	plan.way, plan.hold, plan.crash = wayTry, 0, false
	closing := plan.more.Float64() < closes
	h, err := c.get(ctx, plan, claimOf(c.client(), lock))
	if h == nil {
		c.run.soiled++
		return err
	}
	before, clean := c.current(), false
	if closing && !c.hosted() && len(c.home.members) == 1 && c.holds() == 1 && !h.isLost() && !c.underFault() {
		clean = c.leave(h)
	} else {
		h.finish(ctx, plan, []Lease{h.lease})
		clean = c.current() == before && !h.isLost()
	}
	if !clean {
		c.run.soiled++
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
