package lock

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
)

// Locker gets the locks of one recipe by name. Lock lives at env.Root/lock.
type Locker interface {
	// Acquire waits for the lock. ctx bounds the wait alone. Pass ctx on to
	// env.Enqueued.
	Acquire(ctx context.Context, name string) (Lease, error)
	// TryAcquire is like Acquire but returns ErrNotAcquired when another
	// is in the way.
	TryAcquire(ctx context.Context, name string) (Lease, error)
}

// Client is one client of the lock under test, a mutex. Its methods are called
// by one goroutine, except for Conn and Crash.
type Client interface {
	Locker
	// Conn returns the connection of the current session, nil when there is
	// none. The harness creates an ephemeral node of its own through it.
	Conn() *zk.Conn
	// Crash ends the client's goroutines as its death would: nothing is
	// released, the session is not closed. When it is called the sockets are
	// closed already, and dialing fails.
	Crash()
	// Close ends the client in good order, its session too.
	Close(ctx context.Context) error
}

// Lease is a lock that is held.
type Lease interface {
	// Token is the fencing token; zero when the target issues none.
	Token() histories.Token
	// Lost is closed when the target says that exclusivity is no longer
	// guaranteed. Nil when it never says so.
	Lost() <-chan struct{}
	// Valid is asked right before each write to what the lock guards. A target
	// that cannot know returns true.
	Valid() bool
	// Release gives the lock back. A nil error says that it is free. An error
	// that wraps ErrLost says that it was lost before, and nothing of it is
	// left. Any other error leaves the outcome unknown.
	Release(ctx context.Context) error
}

// Reenterer is implemented by clients, and other lockers, of reentrant locks.
type Reenterer interface {
	// Reenter acquires the lock again in the name of the owner of held. Only the
	// release of the outermost lease frees the lock.
	Reenter(ctx context.Context, name string, held Lease) (Lease, error)
}

// Sessioned is implemented by leases that know the session they belong to.
// For others it is the one the client had when Acquire returned.
type Sessioned interface{ SessionID() int64 }

// Errors that targets return, wrapped or bare.
var (
	// ErrNotAcquired is returned by TryAcquire when another holds the lock.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrLost is returned by Release, and by Reenter, of a lease that was lost.
	ErrLost = errors.New("lease lost")
	// ErrNotHeld is returned by RevokerLocker.Holder when the lock is free.
	ErrNotHeld = errors.New("lock not held")
	// ErrCrashed is returned by Env.Dial once the run has ended the client as if by
	// its death.
	ErrCrashed = errors.New("client has crashed")
)
