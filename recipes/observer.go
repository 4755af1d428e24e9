package recipes

import (
	"context"
	"time"
)

// Observer holds functions that a client calls when the state of one of its locks changes. Fields
// may be nil.
//
// The goroutine that acquires calls Acquiring, Enqueued and GaveUp, and waits for them. The client
// makes the other calls in the order of the events, in one goroutine of their own, which calls
// listeners too: a slow one delays no lock, and each may use the client and close it. They may come
// after the acquire or release that they report has returned, and the lease may have changed again
// meanwhile.
//
// Only outermost leases are reported. Durations are measured on the monotonic clock. Each Acquiring
// is followed by either Acquired or GaveUp, and each Acquired by either Lost or Released.
type Observer struct {
	// Acquiring: an acquire, a try or a campaign contends from now on; not a re-entry, a call that
	// is refused at once, such as with a bad path, or one that waits for another call of its owner.
	// A MultiLock calls it for each of its locks.
	//
	// ctx is the context of the acquire. Acquiring returns it, or a context that adds values to it
	// (context.WithValue), which must not be nil: Enqueued and GaveUp get that context, and
	// Lease.Context has its values.
	Acquiring func(ctx context.Context, a Acquiring) context.Context
	// Enqueued: an acquire has its place in the queue. ctx is what Acquiring returned or, without
	// Acquiring, the acquire's. Called again when the acquire lost its place and took another.
	Enqueued func(ctx context.Context, e Enqueued)
	// GaveUp: an acquire has ended without a lease. ctx is that of Enqueued. The acquire returns an
	// error that wraps err: ErrNotAcquired for a try that was refused, the cause of a context that
	// has ended, ErrClosed, or another error; but a multi-lock goes on after ErrLeaseLost.
	GaveUp func(ctx context.Context, a Acquiring, err error)
	// Acquired: an acquire or a try succeeded. waited is the time from its call to its return.
	Acquired func(l *Lease, waited time.Duration)
	// Suspended: the lease's link is down; it will be lost at its deadline unless the link comes
	// back before. Not called for leases that are lost at once.
	Suspended func(l *Lease)
	// Resumed: the lease's link is back before its deadline.
	Resumed func(l *Lease)
	// Lost: the lease was lost. held is the time since it was acquired.
	Lost func(l *Lease, why LossReason, held time.Duration)
	// Released: the last of the owner's leases was released before it was lost. held is as in Lost.
	Released func(l *Lease, held time.Duration)
	// RevokeRequested: a client asked the holder to release the lock, see Client.Revoke.
	RevokeRequested func(l *Lease)
}

// Acquiring describes an acquire that contends for a lock.
type Acquiring struct {
	Path string // of the lock
	// Recipe is "mutex", "read" or "write" (the sides of a ReadWriteMutex),
	// "nonreentrant", "semaphore" or "election". A lock of a MultiLock is reported with its own
	// recipe.
	Recipe string
	Asked  time.Time // when the acquire was called
}

// Enqueued describes a place in a lock's queue.
type Enqueued struct {
	Path  string // of the lock
	Node  string // name of the contender's node
	Token Token  // token of a grant of this place; zero for semaphores, which issue the token with the grant
	// Ahead is the number of contenders ahead in the first list of the queue that has the place,
	// or, if this client needed no list since other contenders of its own are ahead, the number of
	// those that it knows, a lower bound that is at least one.
	Ahead   int
	Session int64
}
