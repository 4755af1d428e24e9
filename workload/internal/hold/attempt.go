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

	strikes, holds int  // the client's when it began
	unheard        bool // its notices are not on record: another call of its owner is under way

	mu   sync.Mutex
	open bool // on record, and not completed
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
	a := newAttempt(c, op, asked)
	a.begin()
	ctx, returned := c.Cancellable(ctx)
	defer returned()
	late := lateness(ctx)
	lease, err := do(lock.WithAttempt(ctx, lock.Attempt{Owner: a.Owner, Enqueued: a.enqueued, Told: a.told}))
	return a.end(lease, err, late())
}

// newAttempt returns an acquire of the locks in asked by the current process, which has not begun.
func newAttempt(c *client.Client, op histories.Op, asked histories.Event) *attempt {
	a := &attempt{c: c, Event: asked}
	a.Type, a.Op, a.Process, a.Owner = histories.Invoke, op, c.Current(), ownerName(c.Current())
	return a
}

// begin records the invocation.
func (a *attempt) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Session = a.c.SessionName()
	a.c.Record(a.Event)
	a.open, a.strikes, a.holds = true, a.c.StrikeCount(), a.c.Holds()
	if a.unheard && a.c.Run.Promises.Says {
		a.c.Record(histories.Event{
			Type: histories.Says, Process: a.Process, Lock: a.Lock, Owner: a.Owner,
			Saying: &histories.Saying{Asked: a.c.Run.Journal.Elapsed(), Told: histories.ToldUnheard},
		})
	}
}

// end records the completion, late after the end of the context, and returns the hold if the acquire
// got it.
func (a *attempt) end(lease lock.Lease, err error, late time.Duration) (*Hold, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.failed(err, late, a.holds == 0)
		return nil, err
	}
	done := a.done(lease, late)
	if m, ok := lease.(lock.MultiLease); ok && done.Parts != nil {
		done.Token, done.Parts = histories.Token{}, withTokens(done.Parts, m.Tokens())
	}
	a.c.Record(done)
	h := New(a.c, done, lease)
	a.c.AddHold(h.Holding)
	h.answers().askGranted(a.c.StrikeCount() != a.strikes)
	return h, nil
}

// failed records the completion with an error. needsReason says that a failure before the end of the
// context must have a reason that the run knows. a is locked.
func (a *attempt) failed(err error, late time.Duration, needsReason bool) {
	a.open = false
	done := a.Event
	done.Type, done.Session, done.Late, done.Error = histories.Fail, a.c.SessionName(), late, err.Error()
	done.Refused = a.Op == histories.TryAcquire && errors.Is(err, lock.ErrNotAcquired)
	done.Unexplained = needsReason && late == 0 && unexplained(a.c, err)
	a.c.Record(done)
}

// done returns the completion of an acquire that got a lease. a is locked.
func (a *attempt) done(lease lock.Lease, late time.Duration) histories.Event {
	a.open = false
	done := a.Event
	done.Session, done.Late = a.c.SessionName(), late
	if s, ok := lease.(lock.Sessioned); ok {
		done.Session = lock.SessionName(s.SessionID())
	}
	done.Type, done.Token, done.Depth = histories.OK, lease.Token(), max(1, a.Depth)
	if d, ok := lease.(lock.NestedLease); ok {
		done.Depth = max(done.Depth, d.Depth())
	}
	return done
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
// time since ctx ended: at least 1 ns, and 0 if it has not ended. If ctx has ended before, it counts from
// the call, and no other goroutine need run.
func lateness(ctx context.Context) func() time.Duration {
	if called := time.Now(); ctx.Err() != nil {
		return func() time.Duration { return max(time.Since(called), 1) }
	}
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
		e.Unexplained = op != histories.Revoke && e.Late == 0 && unexplained(c, err)
	}
	c.Record(e)
	if e.Type == histories.Info {
		c.Retire()
	}
	return err
}

// ownerName returns the name of the owner that a process acquires for: itself.
func ownerName(process int) string { return fmt.Sprintf("p%d", process) }
