package workload

import (
	"context"
	"sync"

	"github.com/zkverify/zkverify/histories"
)

// attempt is one acquire from its invocation to its completion. It travels in
// the context, so that a place in the queue is put down to the acquire that
// took it even when the target reports it late.
type attempt struct {
	c *client
	histories.Event

	mu   sync.Mutex
	open bool
}

type attemptKey struct{}

// enqueued is Env.Enqueued of every client.
func enqueued(ctx context.Context, p Place) {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.open {
		return // the acquire is over: its place means nothing any more
	}
	a.c.run.journal.record(histories.Event{
		Type: histories.Enqueued, Process: a.Process, Op: a.Op, Lock: a.Lock, Owner: a.Owner,
		Session: a.c.sessionName(), Token: p.Token, Position: p.Ahead,
	})
}

// acquire runs one acquire, by way of do, and returns the hold if it got the
// lock. Any error means that nobody acts on it: it fails.
func (c *client) acquire(ctx context.Context, op histories.Op, lock string, do func(context.Context) (Lease, error)) (*hold, error) {
	process := c.current()
	a := &attempt{c: c, open: true, Event: histories.Event{
		Type: histories.Invoke, Process: process, Op: op, Lock: lock, Owner: ownerName(process), Session: c.sessionName(),
	}}
	c.run.journal.record(a.Event)
	c.setWaiting(true)
	lease, err := do(context.WithValue(ctx, attemptKey{}, a))

	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = false
	done := a.Event
	done.Session = c.sessionName()
	if err != nil {
		c.setWaiting(false)
		done.Type, done.Error = histories.Fail, err.Error()
		c.run.journal.record(done)
		return nil, err
	}
	if s, ok := lease.(Sessioned); ok {
		done.Session = sessionName(s.SessionID())
	}
	done.Type, done.Token, done.Depth = histories.OK, lease.Token(), 1
	c.run.journal.record(done)
	h := newHold(c, done, lease)
	c.setHold(h)
	return h, nil
}
