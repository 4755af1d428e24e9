package workload

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
)

// Target is a kind of lock to be tested.
type Target interface {
	Name() string        // as given on the command line
	Description() string // one line
	Recipe() string      // what sort of lock it is: "mutex"
	// Promises says what the lock claims under these settings. The checker
	// holds it to that and to nothing else.
	Promises(Settings) histories.Promises
	// Open starts a client of the lock: what an application would have one of
	// per process. It returns when the client has a session, or ctx's error.
	Open(ctx context.Context, env Env) (Client, error)
}

// Collection is implemented by targets that offer more recipes than the one
// that Recipe names. Their clients implement the interface of each:
// [NonReentrantLocker], [ReadWriteLocker] and so on.
type Collection interface {
	// Recipes returns all that the target offers, Recipe's among them.
	Recipes() []histories.Recipe
}

// Settings is what a target's promises may depend on.
type Settings struct {
	SessionTimeout time.Duration
	TickTime       time.Duration // 0 when unknown
}

// Locker gets the locks of one recipe by name. Lock lives at env.Root/lock.
type Locker interface {
	// Acquire waits for the lock. ctx bounds the wait alone. Pass ctx on to
	// env.Enqueued.
	Acquire(ctx context.Context, lock string) (Lease, error)
	// TryAcquire is like Acquire but returns ErrNotAcquired when another
	// is in the way.
	TryAcquire(ctx context.Context, lock string) (Lease, error)
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
	// Reenter acquires lock again in the name of the owner of held. Only the
	// release of the outermost lease frees the lock.
	Reenter(ctx context.Context, lock string, held Lease) (Lease, error)
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
	// ErrNotHeld is returned by RevokerLocker.Holder when nobody holds the lock.
	ErrNotHeld = errors.New("lock not held")
)

// Env is what a target's client is given.
type Env struct {
	// Servers are the addresses (host:port) to connect to: this client's own
	// links to the servers.
	Servers []string
	// Dial must be used for every connection to them. Through it the harness
	// learns the client's session, counts its attempts, and takes its network
	// away when it crashes.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// SessionTimeout is what to ask the servers for.
	SessionTimeout time.Duration
	// TickTime is the servers' tick, 0 when unknown.
	TickTime time.Duration
	// Root is the path under which the locks live. It exists.
	Root string
	// Auth is what to authenticate by and whose nodes to create; nobody's unless
	// the run has credentials.
	Auth ensemble.Credentials
	// Locks are those of the run, by name: a semaphore's size is there.
	Locks map[string]histories.Lock
	// Enqueued reports a place in a lock's queue, with the context given to
	// Acquire. Fairness is judged by it; a target that promises no order need
	// not call it.
	Enqueued func(ctx context.Context, place Place)
	// Suspended reports that the lease with this token has lost its link, or
	// has it back, without having been lost. Optional.
	Suspended func(token histories.Token, suspended bool)
	// Told reports what an observer of the client was told, in that order, each time
	// that it is. It is judged if the target promises histories.Promises.Says.
	Told func(Telling)
}

// Place is a place in a lock's queue.
type Place struct {
	Lock  string          // which, when several are acquired at once; else it need not be given
	Token histories.Token // what a grant of this place will carry; zero when that is not known yet
	// Sequence orders the places of one lock when no token does. It may begin
	// anew when the queue was empty.
	Sequence int
	Ahead    int // contenders ahead, as far as is known
}
