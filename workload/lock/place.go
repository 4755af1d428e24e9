package lock

import (
	"context"

	"github.com/zkverify/zkverify/histories"
)

// Place is a place in a lock's queue.
type Place struct {
	Lock  string          // which, when several are acquired at once; else it need not be given
	Token histories.Token // of a grant of this place; zero when it is not known yet
	// Sequence orders the places of one lock when no token does. It may begin
	// anew when the queue was empty.
	Sequence int
	Ahead    int // contenders ahead, as far as is known
	// Session is the session that the contender's node belongs to; empty: the client's. A
	// client may wait by the node of its last session.
	Session string
}

// Attempt is one acquire, carried by its context: a place in a queue belongs to the acquire
// that took it, even when the target reports the place late, and so do notifications.
type Attempt struct {
	Owner    string             // the owner that acquires, as in the history; empty where it is not known
	Enqueued func(Place)        // records a place of the acquire
	Told     func(Notification) // records a notification; nil where none is judged
}

type attemptKey struct{}

// WithAttempt returns a context for an acquire.
func WithAttempt(ctx context.Context, a Attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// Enqueued records a place with the attempt that ctx carries. Every client of a run has it as
// [Env].Enqueued.
func Enqueued(ctx context.Context, p Place) {
	if a, ok := ctx.Value(attemptKey{}).(Attempt); ok {
		a.Enqueued(p)
	}
}

// Told records a notification of the acquire, or of the lease that it was granted, with the attempt
// that ctx carries: histories.ToldAcquiring, ToldGaveUp or ToldRevokeRequested. ctx has the values of
// the context given to the acquire. A target that tells one of these tells all of them.
func Told(ctx context.Context, n Notification) {
	if a, ok := ctx.Value(attemptKey{}).(Attempt); ok && a.Told != nil {
		a.Told(n)
	}
}

// OwnerOf returns the owner that acquires under ctx, for recipes that show their owner to other
// clients; empty where the owner is not known.
func OwnerOf(ctx context.Context) string {
	a, _ := ctx.Value(attemptKey{}).(Attempt)
	return a.Owner
}

// OwnerLocker is implemented by lockers that keep holds by the owner that OwnerOf returns: while an
// owner has a lock, its next acquire re-enters, and the lock is held until all of its leases are
// released, in any order. Several acquires of one owner may be under way at a time.
type OwnerLocker interface {
	Locker
	KeepsByOwner()
}

// Owned returns lease's context for an acquire under ctx by the same owner. It is for targets
// whose leases have a context that carries their owner, as those of package recipes do. The
// context ends with ctx too, and places in queues that are reported with it (Env.Enqueued) are
// recorded for ctx's acquire. Call end when the acquire has returned.
func Owned(ctx, lease context.Context) (_ context.Context, end func()) {
	inner, cancel := context.WithCancelCause(context.WithValue(lease, attemptKey{}, ctx.Value(attemptKey{})))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return inner, func() { stop(); cancel(nil) }
}
