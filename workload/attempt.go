package workload

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// claim is what an acquire asks for, and how.
type claim struct {
	event   histories.Event // Lock or Parts, Mode, Permits
	acquire func(context.Context) (lock.Lease, error)
	try     func(context.Context) (lock.Lease, error)
}

// claimOf asks a locker for one of its locks.
func claimOf(l lock.Locker, name string) claim {
	return claim{
		event:   histories.Event{Lock: name},
		acquire: func(ctx context.Context) (lock.Lease, error) { return l.Acquire(ctx, name) },
		try:     func(ctx context.Context) (lock.Lease, error) { return l.TryAcquire(ctx, name) },
	}
}

// attempt is one acquire from its invocation to its completion. It travels in
// the context, so that a place in the queue is put down to the acquire that
// took it even when the target reports it late.
type attempt struct {
	c *client
	histories.Event

	mu   sync.Mutex
	open bool
}

// enqueued puts a place on record.
func (a *attempt) enqueued(p lock.Place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.open {
		return // the acquire is over: its place means nothing any more
	}
	name := a.Lock
	if name == "" {
		if !slices.ContainsFunc(a.Parts, func(part histories.Part) bool { return part.Lock == p.Lock }) {
			return // a place that nobody knows the queue of
		}
		name = p.Lock
	}
	a.c.setQueued(stand{lock: name, token: p.Token})
	a.c.record(histories.Event{
		Type: histories.Enqueued, Process: a.Process, Op: a.Op, Lock: name, Mode: a.Mode, Permits: a.Permits, Owner: a.Owner,
		Session: a.c.sessionName(), Token: p.Token, Sequence: p.Sequence, Position: p.Ahead,
	})
}

// acquire runs one acquire of what asked says, by way of do, and returns the
// hold if it got it; Depth is above 1 of an owner that asks as if it held. Any error means that nobody acts on it: it fails.
func (c *client) acquire(ctx context.Context, op histories.Op, asked histories.Event, do func(context.Context) (lock.Lease, error)) (*hold, error) {
	a := &attempt{c: c, open: true, Event: asked}
	a.Type, a.Op, a.Process, a.Session = histories.Invoke, op, c.current(), c.sessionName()
	a.Owner = ownerName(a.Process)
	c.record(a.Event)
	strikes := c.strikeCount()
	c.setAsking(true)
	lease, err := do(lock.WithAttempt(ctx, lock.Attempt{Owner: a.Owner, Enqueued: a.enqueued}))

	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = false
	defer c.setAsking(false)
	done := a.Event
	done.Session = c.sessionName()
	if err != nil {
		done.Type, done.Error = histories.Fail, err.Error()
		done.Refused = op == histories.TryAcquire && errors.Is(err, lock.ErrNotAcquired)
		c.record(done)
		return nil, err
	}
	if s, ok := lease.(lock.Sessioned); ok {
		done.Session = lock.SessionName(s.SessionID())
	}
	done.Type, done.Token, done.Depth = histories.OK, lease.Token(), max(1, asked.Depth)
	if d, ok := lease.(lock.NestedLease); ok {
		done.Depth = max(done.Depth, d.Depth())
	}
	if m, ok := lease.(lock.MultiLease); ok && done.Parts != nil {
		done.Token, done.Parts = histories.Token{}, withTokens(done.Parts, m.Tokens())
	}
	c.record(done)
	h := newHold(c, done, lease)
	c.addHold(h)
	h.askGranted(c.strikeCount() != strikes)
	return h, nil
}

// withTokens returns a copy of parts that has the tokens, one for each.
func withTokens(parts []histories.Part, tokens []histories.Token) []histories.Part {
	out := slices.Clone(parts)
	for i := range min(len(out), len(tokens)) {
		out[i].Token = tokens[i]
	}
	return out
}

// operate runs and records one operation that gets no lock. An error ends it
// as failed says: fail if nobody acts on it, info if nobody knows whether it
// took effect; then the process is retired.
func (c *client) operate(op histories.Op, e histories.Event, failed histories.Type, do func() error) error {
	return c.operateMarked(op, e, failed, func() (histories.Token, error) { return e.Token, do() })
}

// operateMarked is operate of what is known to have happened by a transaction.
func (c *client) operateMarked(op histories.Op, e histories.Event, failed histories.Type, do func() (histories.Token, error)) error {
	e.Type, e.Op, e.Process, e.Session = histories.Invoke, op, c.current(), c.sessionName()
	c.record(e)
	token, err := do()
	e.Type, e.Session, e.Token = histories.OK, c.sessionName(), token
	if err != nil {
		e.Type, e.Error = failed, err.Error()
	}
	c.record(e)
	if e.Type == histories.Info {
		c.retire()
	}
	return err
}
