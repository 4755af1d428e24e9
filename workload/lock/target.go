package lock

import (
	"context"
	"net"
	"slices"
	"time"

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

// RecipesOf returns what a target offers, in the order of histories.Recipes.
func RecipesOf(t Target) []histories.Recipe {
	c, ok := t.(Collection)
	if !ok {
		return []histories.Recipe{histories.Recipe(t.Recipe())}
	}
	offers := c.Recipes()
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !slices.Contains(offers, r) })
}

// Settings is what a target's promises may depend on.
type Settings struct {
	SessionTimeout time.Duration
	TickTime       time.Duration // 0 when unknown
}

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
	// Auth is what to authenticate by and whose nodes to create. It is empty, and
	// nodes are open, unless the run has credentials.
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
	Told func(Notification)
	// Connection reports how the client stands with the servers, in the order in which
	// that changes: histories.ConnectionConnected first, and so on. Optional; judged with
	// what is told.
	Connection func(state string)
	// Choices are what the application makes of the target's options.
	Choices Choices
}

// Choices are options of a lock that an application may take or leave: no promise depends
// on them. A target takes those that it has.
type Choices struct {
	Namespace bool // Root is given to the client once, and not with each lock
	EndEarly  bool // a lease is given up as soon as its link is down
	Rule      bool // a rule of the application's own says who is first, as the target's does
}

// Concurrent is implemented by targets whose clients may be used by several
// goroutines at a time, as an application does that opens one for all. Some
// clients of a run then share one.
type Concurrent interface{ Concurrent() bool }
