package lock

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// DeadlineLease is implemented by leases that know their deadline.
type DeadlineLease interface {
	Lease
	// Deadline returns the instant at which the lease is lost unless the client hears from the
	// servers before. Valid is false from then on.
	Deadline() time.Time
}

// PartsDeadlineLease is implemented by leases of several locks that know the deadline of each
// part. Such a lease is lost at the first of these deadlines.
type PartsDeadlineLease interface {
	DeadlineLease
	PartDeadlines() []time.Time
}

// NestedLease is implemented by leases of reentrant locks.
type NestedLease interface {
	Lease
	// Depth returns 1 for an outermost lease, 2 for its re-entry, and so on.
	Depth() int
}

// ContextLease is implemented by leases with a context that ends when they are
// lost or released, and not before.
type ContextLease interface {
	Lease
	Context() context.Context
}

// StateLease is implemented by leases that report their state.
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

// HeldLocker is implemented by lockers, those of permits too, that can report whether their
// client holds a lock; for a read/write lock, whether it holds the lock in the locker's mode.
type HeldLocker interface {
	Held(name string) bool
}

// QueueLocker is implemented by lockers that list the participants in the queue of a lock, the
// first one first.
type QueueLocker interface {
	Participants(ctx context.Context, name string) ([]histories.Participant, error)
}

// Notification is a message of the lock to an observer of an outermost lease: one when it was
// acquired, and one when it was lost or released, see Env.Told. [Told] takes those of acquires and of
// requests to release.
type Notification struct {
	What    string // histories.ToldAcquired and so on
	Lock    string
	Token   histories.Token // of the lease
	Session int64           // of the lease
	Owner   string          // with ToldAcquired: whose acquire got the lease, see OwnerOf; may be empty
	Err     error           // with ToldGaveUp
}

// GuardedLease is implemented by the leases of targets that promise histories.Promises.Guards:
// writes to data in ZooKeeper itself that the lease fences.
type GuardedLease interface {
	// SetGuarded sets the data of a node in ZooKeeper, once, in one transaction that also checks
	// that the lock, or each of several locks, is held. An error that wraps ErrLost says that a lock
	// was not held, and nothing is written; one that wraps ErrNotWritten, that nothing is written
	// for another reason, which a target that promises Returns has only when ctx has ended. Any
	// other error leaves open whether the data was written, or will be.
	SetGuarded(ctx context.Context, node string, data []byte) error
}

// NodesLease is implemented by leases that know their nodes: one for each lock if the lease is
// of several.
type NodesLease interface{ Nodes() []string }
