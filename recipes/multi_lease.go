package recipes

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// MultiLease is a lease of several locks that are held together; the loss of one is its loss. Any
// goroutine may call its methods.
type MultiLease struct {
	leases []*Lease
	ctx    context.Context
	cancel context.CancelCauseFunc
	lost   chan struct{}
	once   sync.Once // closes lost
}

func newMultiLease(ctx context.Context, o owner, leases []*Lease) *MultiLease {
	g := &MultiLease{leases: leases, lost: make(chan struct{})}
	ctx, g.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	o.leases = append(slices.Clip(o.leases), leases...)
	g.ctx = context.WithValue(ctx, ownerKey{}, o)
	for _, l := range leases {
		l.hold.mu.Lock()
		l.whenLost = g.lose
		lost := l.hold.isLost
		l.hold.mu.Unlock()
		if lost {
			g.lose()
		}
	}
	return g
}

// lose is called when one of the locks is lost.
func (g *MultiLease) lose() {
	g.once.Do(func() {
		close(g.lost)
		g.cancel(ErrLeaseLost)
	})
}

// Leases returns the leases of the single locks, in the order of the locks in [NewMultiLock].
func (g *MultiLease) Leases() []*Lease { return slices.Clone(g.leases) }

// Token returns the newest of the leases' tokens. It grows with each grant of the same set of
// locks.
func (g *MultiLease) Token() Token {
	return slices.MaxFunc(g.leases, func(a, b *Lease) int { return a.Token().Compare(b.Token()) }).Token()
}

// Lost returns a channel that is closed once one of the locks is lost, see
// [Lease.Lost].
func (g *MultiLease) Lost() <-chan struct{} { return g.lost }

// Valid reports, by the clock, whether all locks are held now, see [Lease.Valid].
func (g *MultiLease) Valid() bool {
	return !slices.ContainsFunc(g.leases, func(l *Lease) bool { return !l.Valid() })
}

// Deadline returns the earliest of the leases' deadlines, see [Lease.Deadline].
func (g *MultiLease) Deadline() time.Time {
	return slices.MinFunc(g.leases, func(a, b *Lease) int { return a.Deadline().Compare(b.Deadline()) }).Deadline()
}

// Context is like [Lease.Context], and ends when one of the locks is lost or the multi-lease is
// released. Acquiring any of the locks with it re-enters.
func (g *MultiLease) Context() context.Context { return g.ctx }

// Release gives all locks back, at the same time. It returns [ErrLeaseLost] when one of them had
// been lost, and otherwise the errors of [Lease.Release].
func (g *MultiLease) Release(ctx context.Context) error {
	for _, l := range g.leases {
		l.start()
	}
	g.cancel(ErrNotHeld)
	var errs []error
	for _, l := range g.leases {
		errs = append(errs, l.Release(ctx))
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return session.Errors(errs)
}
