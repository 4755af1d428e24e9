package recipes

import (
	"context"
	"time"
)

// Observer is told what happens to a client's locks. Fields may be nil.
//
// Acquiring, Enqueued and GaveUp are called by the goroutine that acquires, which
// waits for them. The other calls of one client come one after the other, in the
// order of the events, from a goroutine of its own, so that a slow observer
// delays no lock and may use the client, and close it.
// They may come after the call that they tell of has returned, and a lease may
// have changed again meanwhile.
//
// The lease's Path says which lock it is. Only outermost leases are reported:
// re-entries neither acquire nor release anything. Durations are measured on
// the monotonic clock. Each Acquiring is followed by either Acquired or GaveUp,
// and each Acquired by either Lost or Released.
type Observer struct {
	// Acquiring: an acquire, a try or a campaign contends from now on. It is not
	// called for re-entries, for calls that are refused at once, such as those with
	// a bad path, and while a call waits for another one of its owner. A MultiLock
	// calls it for each of its locks.
	//
	// ctx is the one given to the acquire. Acquiring returns it, or a context that
	// adds values to it (context.WithValue), by which an observer knows the acquire
	// again: that context goes to Enqueued and GaveUp, and Lease.Context has its
	// values. It must not be nil.
	Acquiring func(ctx context.Context, a Acquiring) context.Context
	// Enqueued: an acquire has its place in the queue. ctx is the one that
	// Acquiring has returned, or without Acquiring the one given to the acquire. It
	// is called again when the place was lost and another taken.
	Enqueued func(ctx context.Context, e Enqueued)
	// GaveUp: an acquire has ended without a lease. ctx is that of Enqueued, and err
	// is what the error that the acquire returns wraps: ErrNotAcquired of a try that
	// was refused, the cause of a context that has ended, ErrClosed, or another one.
	GaveUp func(ctx context.Context, a Acquiring, err error)
	// Acquired: an acquire or a try succeeded. waited is the time from the call
	// to its return.
	Acquired func(l *Lease, waited time.Duration)
	// Suspended: the lease's link is down; it will be lost at its deadline
	// unless the link comes back before. Not called for leases that are lost
	// at once.
	Suspended func(l *Lease)
	// Resumed: the lease's link is back before its deadline.
	Resumed func(l *Lease)
	// Lost: the lease was lost, for its LossReason. held is the time since it was
	// acquired.
	Lost func(l *Lease, held time.Duration)
	// Released: the last of the owner's leases was released before it was lost.
	// held is the time since it was acquired.
	Released func(l *Lease, held time.Duration)
	// RevokeRequested: somebody asked the holder to give the lock back, see
	// Client.Revoke.
	RevokeRequested func(l *Lease)
}

// Acquiring describes an acquire that contends for a lock.
type Acquiring struct {
	Path string // of the lock
	// Recipe is "mutex", "read" or "write" (the sides of a ReadWriteMutex),
	// "nonreentrant", "semaphore" or "election". The locks of a MultiLock are told of
	// as what they are.
	Recipe string
	Asked  time.Time // when the acquire was called
}

// Enqueued describes a place in a lock's queue.
type Enqueued struct {
	Path  string // of the lock
	Node  string // name of the contender's node
	Token Token  // that a grant of this place will carry; zero for semaphores, which issue it with the grant
	// Ahead is how many contenders were ahead in the first list of the queue that
	// has the place. Where others of this client are ahead, no list may be needed:
	// then it is how many are known, a lower bound that is at least one.
	Ahead   int
	Session int64
}
