package lock

import (
	"context"
)

// SemaphoreLocker is implemented by clients that offer semaphores. Env.Locks has the number of
// permits of each.
type SemaphoreLocker interface{ Semaphore() PermitLocker }

// PermitLocker acquires permits of one semaphore: n of them, or none.
type PermitLocker interface {
	AcquireN(ctx context.Context, name string, n int) (Lease, error)
	TryAcquireN(ctx context.Context, name string, n int) (Lease, error)
}

// SharedSemaphoreLocker is implemented by clients that offer semaphores whose size is changed
// while they are in use. Env.Locks has their initial size.
type SharedSemaphoreLocker interface{ SharedSemaphore() SizedLocker }

// SizedLocker acquires permits of one semaphore, and sets its size.
type SizedLocker interface {
	PermitLocker
	// SetSize changes the size for all clients. Permits that are held stay held, even if they
	// exceed the size. An error leaves open whether the size was changed.
	SetSize(ctx context.Context, name string, size int) error
}

// SizeByNode is implemented by SizedLockers that keep the size in a node, and grant
// permits by the size in force at the transaction of the grant, which is its token.
type SizeByNode interface {
	SizedLocker
	// SizeNode returns the path of the node, and its data when the size is n. SetSize writes to
	// it, in the session of Conn.
	SizeNode(name string, n int) (path string, data []byte)
}
