package lock

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// DeadlineLease is implemented by leases that know until when they are good.
type DeadlineLease interface {
	Lease
	// Deadline is the instant at which the lease is lost unless the servers are
	// heard from before. Valid is false from then on.
	Deadline() time.Time
}

// PartsDeadlineLease is implemented by leases of several locks that know until when
// each part is good: they are lost when the first of them is.
type PartsDeadlineLease interface {
	DeadlineLease
	PartDeadlines() []time.Time
}

// NestedLease is implemented by leases of reentrant locks.
type NestedLease interface {
	Lease
	// Depth is 1 for an outermost lease, 2 for its re-entry, and so on.
	Depth() int
}

// ContextLease is implemented by leases with a context that ends when they are
// lost or released, and not before.
type ContextLease interface {
	Lease
	Context() context.Context
}

// StateLease is implemented by leases that say how they stand.
type StateLease interface {
	Lease
	State() string // histories.StateHeld and so on
}

// NodeLease is implemented by leases whose token is the transaction that created
// their node.
type NodeLease interface {
	Lease
	Node() string // its path
}

// HeldLocker is implemented by lockers, those of permits too, that know whether a
// lock is held through their client; of a read/write lock, in their mode.
type HeldLocker interface {
	Held(name string) bool
}

// QueueLocker is implemented by lockers that list who stands in the queue of a
// lock, the first one first.
type QueueLocker interface {
	Participants(ctx context.Context, name string) ([]histories.Participant, error)
}

// Notification is what an observer is told of an outermost lease: once that it was
// acquired, and then once that it was lost or released.
type Notification struct {
	What    string // histories.ToldAcquired, ToldLost or ToldReleased
	Lock    string
	Token   histories.Token // of the lease
	Session int64           // of the lease
}

// GuardedLease is implemented by the leases of targets that promise
// histories.Promises.Guards: the fence for data that is in ZooKeeper itself.
type GuardedLease interface {
	// SetGuarded sets the data of a node in ZooKeeper, in one transaction with a
	// look at whether the lock is held, or all of several. An error that wraps
	// ErrLost says that it was not, and nothing is written. Any other error leaves
	// open whether it was written, or will be.
	SetGuarded(ctx context.Context, node string, data []byte) error
}

// NodesLease is implemented by leases that know their nodes: one for each lock of
// several.
type NodesLease interface{ Nodes() []string }
