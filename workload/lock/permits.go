package lock

import (
	"context"
)

// SemaphoreLocker is implemented by clients that offer semaphores. Env.Locks
// says how many permits each has.
type SemaphoreLocker interface{ Semaphore() PermitLocker }

// PermitLocker gets permits of one semaphore: n of them, or none.
type PermitLocker interface {
	AcquireN(ctx context.Context, name string, n int) (Lease, error)
	TryAcquireN(ctx context.Context, name string, n int) (Lease, error)
}

// SharedSemaphoreLocker is implemented by clients that offer semaphores whose
// size is changed while they are in use. Env.Locks says how it is at first.
type SharedSemaphoreLocker interface{ SharedSemaphore() SizedLocker }

// SizedLocker gets permits of one semaphore, and says how many it has.
type SizedLocker interface {
	PermitLocker
	// SetSize changes the size for all clients. Permits that are held are kept,
	// even if they are more. An error leaves open whether it was changed.
	SetSize(ctx context.Context, name string, size int) error
}

// SizeByNode is implemented by SizedLockers that keep the size in a node, and grant
// permits by the size in force at the transaction of the grant, which is its token.
type SizeByNode interface {
	SizedLocker
	// SizeNode returns the node, and the data that it has when the size is n. SetSize writes
	// to it, in the session of Conn.
	SizeNode(name string, n int) (path string, data []byte)
}
