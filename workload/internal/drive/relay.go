package drive

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

// Shares of the cycles of a recipe that go to its spare lock, and of those that close
// their client instead of releasing.
const (
	relayed = 0.1
	closes  = 0.1
)

// relayWithin is the time that a client waits for the spare lock to be unused.
const relayWithin = 50 * time.Millisecond

// relay tries a lock that only the client that has the baton uses: the next client gets it at
// once when the one before has released it, or has closed. At other locks another client is in
// the way more often than not, and a try that is refused shows nothing.
func relay(ctx context.Context, c *client.Client, s *spare, plan cycle.Plan, claimed func(name string) hold.Claim) error {
	waiting, cancel := context.WithTimeout(ctx, relayWithin)
	defer cancel()
	select {
	case s.baton <- struct{}{}:
		defer func() { <-s.baton }()
	case <-waiting.Done():
		return nil
	}
	name := s.locks[s.soiled%len(s.locks)]
	plan.Way, plan.Hold, plan.Crash = cycle.Try, 0, false
	closing := plan.More.Float64() < closes
	h, err := get(ctx, c, plan, claimed(name))
	if h == nil {
		s.soiled++
		return err
	}
	before := c.Current()
	var clean bool
	if closing && !c.Run.Hosted() && len(c.Siblings()) == 0 && c.Holds() == 1 && !h.IsLost() && !c.Faults.HitsNow(c.Index, c.Run.Clients) {
		clean = leave(c, h)
	} else {
		h.Finish(ctx, plan, []lock.Lease{h.Lease})
		clean = c.Current() == before && !h.IsLost()
	}
	if !clean {
		s.soiled++
	}
	return nil
}

// leave releases the client's hold by closing the client in good order. It reports whether that
// was done.
func leave(c *client.Client, h *hold.Hold) bool {
	e := histories.Event{Type: histories.Closing, Process: h.Event.Process, Session: h.Event.Session}
	h.End(e)
	ctx, cancel := context.WithTimeout(c.Run.Life, client.CloseWithin)
	defer cancel()
	began := time.Now()
	if err := c.Close(ctx); err != nil {
		e.Type = histories.Crash
		c.Record(e)
		c.Retire()
		return false
	}
	if time.Since(began) > c.Run.SessionTimeout/4 {
		return false // the target may have given up waiting for the servers
	}
	e.Type = histories.Closed
	c.Record(e)
	return true
}
