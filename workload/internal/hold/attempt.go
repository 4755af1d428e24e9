package hold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// Claim is the request of an acquire: its locks, and the calls that acquire them.
type Claim struct {
	Event   histories.Event // Lock or Parts, Mode, Permits
	Acquire func(context.Context) (lock.Lease, error)
	Try     func(context.Context) (lock.Lease, error)
}

// ClaimOf returns the claim to one of a locker's locks.
func ClaimOf(l lock.Locker, name string) Claim {
	return Claim{
		Event:   histories.Event{Lock: name},
		Acquire: func(ctx context.Context) (lock.Lease, error) { return l.Acquire(ctx, name) },
		Try:     func(ctx context.Context) (lock.Lease, error) { return l.TryAcquire(ctx, name) },
	}
}

// attempt is one acquire from its invocation to its completion. The context carries it, so that
// a place in the queue belongs to the acquire that took it even when the target reports it
// late.
type attempt struct {
	c *client.Client
	histories.Event

	mu   sync.Mutex
	open bool
}

// enqueued records a place.
func (a *attempt) enqueued(p lock.Place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.open {
		return // the acquire is over: its place has no meaning any more
	}
	name := a.Lock
	if name == "" {
		if !slices.ContainsFunc(a.Parts, func(part histories.Part) bool { return part.Lock == p.Lock }) {
			return // a place in a queue that is not known
		}
		name = p.Lock
	}
	a.c.Record(histories.Event{
		Type: histories.Enqueued, Process: a.Process, Op: a.Op, Lock: name, Mode: a.Mode, Permits: a.Permits, Owner: a.Owner,
		Session: cmp.Or(p.Session, a.c.SessionName()), Token: p.Token, Sequence: p.Sequence, Position: p.Ahead,
	})
}

// told records a notification of the acquire, or of its lease.
func (a *attempt) told(n lock.Notification) {
	if !a.c.Run.Promises.Says {
		return
	}
	if n.Lock != a.Lock && !slices.ContainsFunc(a.Parts, func(part histories.Part) bool { return part.Lock == n.Lock }) {
		return // of a lock that is not known
	}
	e := histories.Event{
		Type: histories.Says, Process: a.Process, Lock: n.Lock, Owner: a.Owner, Token: n.Token,
		Saying: &histories.Saying{Asked: a.c.Run.Journal.Elapsed(), Told: n.What},
	}
	if n.What == histories.ToldRevokeRequested {
		e.Session = lock.SessionName(n.Session)
		a.c.RecordAlive(e) // as the listeners' notices of the same lease are
		return
	}
	if n.Err != nil {
		e.Error = n.Err.Error()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open {
		a.c.Record(e)
	}
}

// Acquire runs one acquire of the locks in asked, by calling do, and returns the hold if it got
// it. The depth in asked is above 1 if the owner asks as if it held the lock. After an error
// the client does not hold the lock: the acquire fails.
func Acquire(ctx context.Context, c *client.Client, op histories.Op, asked histories.Event, do func(context.Context) (lock.Lease, error)) (*Hold, error) {
	a := &attempt{c: c, open: true, Event: asked}
	a.Type, a.Op, a.Process, a.Session = histories.Invoke, op, c.Current(), c.SessionName()
	a.Owner = ownerName(a.Process)
	c.Record(a.Event)
	strikes, holds := c.StrikeCount(), c.Holds()
	ctx, returned := c.Cancellable(ctx)
	defer returned()
	late := lateness(ctx)
	lease, err := do(lock.WithAttempt(ctx, lock.Attempt{Owner: a.Owner, Enqueued: a.enqueued, Told: a.told}))
	a.Late = late()

	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = false
	done := a.Event
	done.Session = c.SessionName()
	if err != nil {
		done.Type, done.Error = histories.Fail, err.Error()
		done.Refused = op == histories.TryAcquire && errors.Is(err, lock.ErrNotAcquired)
		done.Unexplained = holds == 0 && done.Late == 0 && unexplained(c, err)
		c.Record(done)
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
	c.Record(done)
	h := New(c, done, lease)
	c.AddHold(h.Holding)
	h.answers().askGranted(c.StrikeCount() != strikes)
	return h, nil
}

// withTokens returns a copy of parts with the tokens, one for each.
func withTokens(parts []histories.Part, tokens []histories.Token) []histories.Part {
	out := slices.Clone(parts)
	for i := range min(len(out), len(tokens)) {
		out[i].Token = tokens[i]
	}
	return out
}

// lateness is called before a call. The function that it returns is called after it, and returns the
// time since ctx ended: at least 1 ns, and 0 if it has not ended.
func lateness(ctx context.Context) func() time.Duration {
	ended := make(chan time.Time, 1)
	stop := context.AfterFunc(ctx, func() { ended <- time.Now() })
	return func() time.Duration {
		if stop() {
			return 0
		}
		return max(time.Since(<-ended), 1)
	}
}

// unexplained reports whether an error gives none of the reasons for which a call of a client that has
// a target may fail before its context has ended.
func unexplained(c *client.Client, err error) bool {
	for _, known := range []error{lock.ErrNotAcquired, lock.ErrLost, lock.ErrNotHeld, lock.ErrCrashed} {
		if errors.Is(err, known) {
			return false
		}
	}
	return c.Target() != nil
}

// Operate runs and records one operation that acquires no lock, with a context. An error ends it
// as failed says: fail if no client acts on it, info if it is not known whether the operation took
// effect; then the process is retired.
func Operate(ctx context.Context, c *client.Client, op histories.Op, e histories.Event, failed histories.Type, do func() error) error {
	return OperateMarked(ctx, c, op, e, failed, do, func(error) histories.Token { return e.Token })
}

// OperateMarked is Operate for an operation whose transaction has a token, which mark returns once
// the operation has returned with an error or nil.
func OperateMarked(ctx context.Context, c *client.Client, op histories.Op, e histories.Event, failed histories.Type, do func() error, mark func(error) histories.Token) error {
	return OperateSeen(ctx, c, op, e, failed, do, func(e *histories.Event, err error) { e.Token = mark(err) })
}

// OperateSeen is Operate for an operation whose completion has more than an error, which tell adds to
// it.
func OperateSeen(ctx context.Context, c *client.Client, op histories.Op, e histories.Event, failed histories.Type, do func() error, tell func(*histories.Event, error)) error {
	e.Type, e.Op, e.Process, e.Session = histories.Invoke, op, c.Current(), c.SessionName()
	c.Record(e)
	late := lateness(ctx)
	err := do()
	e.Late = late()
	tell(&e, err)
	e.Type, e.Session = histories.OK, c.SessionName()
	if err != nil {
		e.Type, e.Error = failed, err.Error()
		e.Unexplained = op != histories.Revoke && op != histories.Leave && e.Late == 0 && unexplained(c, err)
	}
	c.Record(e)
	if e.Type == histories.Info {
		c.Retire()
	}
	return err
}

// ownerName returns the name of the owner that a process acquires for: itself.
func ownerName(process int) string { return fmt.Sprintf("p%d", process) }
