package lock

import (
	"context"

	"github.com/zkverify/zkverify/histories"
)

// NonReentrantLocker is implemented by clients that offer a lock whose owner
// cannot acquire it again. If the locker is a [Reenterer] that is put to the
// test: Reenter must fail, and neither wait nor harm the lease.
type NonReentrantLocker interface{ NonReentrant() Locker }

// ReadWriteLocker is implemented by clients that offer a read/write lock. If
// read is a [Reenterer], its Reenter also takes a lease of write: a downgrade.
// If write is one, its Reenter also takes a lease of read: an upgrade, which
// must be refused at once.
type ReadWriteLocker interface {
	ReadWrite() (read, write Locker)
}

// MultiLocker is implemented by clients that offer to acquire several mutexes
// in one operation, all or none, in whatever order they are named.
type MultiLocker interface {
	// Alone gets one of the mutexes by itself. If it is a [Reenterer], its
	// Reenter also takes a lease of several that has the lock among them.
	Alone() Locker
	// AcquireAll is Locker.Acquire of all. Places that are reported name
	// their lock.
	AcquireAll(ctx context.Context, locks []string) (MultiLease, error)
	// TryAcquireAll is Locker.TryAcquire of all.
	TryAcquireAll(ctx context.Context, locks []string) (MultiLease, error)
}

// MultiReenterer is implemented by MultiLockers whose leases know their owner.
type MultiReenterer interface {
	// ReenterAll acquires all of the locks again in the name of the owner of held.
	// If one of them was lost it returns ErrLost, and acquires none.
	ReenterAll(ctx context.Context, locks []string, held Lease) (MultiLease, error)
}

// MultiLease is several locks that are held. It is lost when one of them is.
type MultiLease interface {
	Lease // Token is not asked for
	// Tokens returns those of the locks, in the order in which they were named.
	Tokens() []histories.Token
}

// RevocableLocker is implemented by clients that offer mutexes whose holder can
// be asked to release. Their leases are [RevocableLease]s.
type RevocableLocker interface{ Revocable() RevokerLocker }

// RevokerLocker gets the mutexes, and asks their holders.
type RevokerLocker interface {
	Locker
	// Holder returns the token of the lease that holds the lock, and what
	// Revoke needs to reach it. ErrNotHeld if the lock is free.
	Holder(ctx context.Context, name string) (token histories.Token, node string, err error)
	// Revoke asks for it. An error leaves open whether the holder will hear.
	Revoke(ctx context.Context, node string) error
}

// RevocableLease is a lease whose holder can be asked to release it.
type RevocableLease interface {
	Lease
	// OnRevoke has f called, once or more, from any goroutine, when the
	// holder is asked: before or after the call of OnRevoke.
	OnRevoke(f func())
}

// HandoffLocker is implemented by clients that offer a mutex which a release hands
// on within the client: Env.Locks says how often in a row at most. If the locker is
// a [Reenterer] that is put to the test too. Only a [Concurrent] target
// has clients that it can be handed to.
type HandoffLocker interface{ Handoff() Locker }
