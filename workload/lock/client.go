package lock

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
)

// Locker acquires the locks of one recipe by name. A lock lives at env.Root/name.
type Locker interface {
	// Acquire waits for the lock. ctx bounds only the wait. Pass ctx on to env.Enqueued.
	Acquire(ctx context.Context, name string) (Lease, error)
	// TryAcquire is like Acquire but returns ErrNotAcquired when another client is in the way.
	TryAcquire(ctx context.Context, name string) (Lease, error)
}

// Client is one client of the lock under test, a mutex. Its methods are called
// by one goroutine, except for Conn and Crash, and Acquire of an OwnerLocker.
type Client interface {
	Locker
	// Conn returns the connection of the current session, nil when there is none. The harness
	// creates an ephemeral node of its own through it.
	Conn() *zk.Conn
	// Crash ends the client's goroutines as the death of its process would: nothing is
	// released, the session is not closed. When Crash is called the sockets are closed already,
	// and dialing fails.
	Crash()
	// Close ends the client in good order, and its session.
	Close(ctx context.Context) error
}

// Lease is a lock that is held.
type Lease interface {
	// Token returns the fencing token; zero when the target issues none.
	Token() histories.Token
	// Lost returns a channel that is closed when the target reports that exclusivity is no
	// longer guaranteed. It is nil when the target never reports that.
	Lost() <-chan struct{}
	// Valid reports whether the lock is still held. It is called right before each write to the
	// data that the lock guards. A target that cannot know returns true.
	Valid() bool
	// Release gives the lock back. A nil error says that the lock is free. An error that wraps
	// ErrLost says that the lease was lost before, and that no node of it is left. Any other
	// error leaves the outcome unknown.
	Release(ctx context.Context) error
}

// Reenterer is implemented by clients, and other lockers, of reentrant locks.
type Reenterer interface {
	// Reenter acquires the lock again in the name of the owner of held. Only the
	// release of the outermost lease frees the lock.
	Reenter(ctx context.Context, name string, held Lease) (Lease, error)
}

// Sessioned is implemented by leases that know their session. For other leases it is the
// session that the client had when Acquire returned.
type Sessioned interface{ SessionID() int64 }

// Errors that targets return, wrapped or bare.
var (
	// ErrNotAcquired is returned by TryAcquire when another holds the lock.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrLost is returned by Release, and by Reenter, of a lease that was lost.
	ErrLost = errors.New("lease lost")
	// ErrNotWritten is returned by SetGuarded of a lease that may be held, if nothing is written.
	ErrNotWritten = errors.New("not written")
	// ErrNotHeld is returned by RevokerLocker.Holder when the lock is free.
	ErrNotHeld = errors.New("lock not held")
	// ErrNoFence may be returned by a fence of Fenced that finds out that it does not keep what it
	// promises: the run fails.
	ErrNoFence = errors.New("no fence")
	// ErrCrashed is returned by Env.Dial once the run has crashed the client.
	ErrCrashed = errors.New("client has crashed")
)
