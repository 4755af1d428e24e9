package lock

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
)

// Target is a kind of lock under test.
type Target interface {
	Name() string        // as given on the command line
	Description() string // one line
	Recipe() string      // the recipe of the lock: "mutex"
	// Promises returns the promises of the lock under these settings. The checker judges the
	// lock by them and by nothing else.
	Promises(Settings) histories.Promises
	// Open starts a client of the lock, of which an application would have one per process. It
	// returns when the client has a session, or ctx's error.
	Open(ctx context.Context, env Env) (Client, error)
}

// Collection is implemented by targets that offer more recipes than Recipe. Their clients
// implement the interface of each: [NonReentrantLocker], [ReadWriteLocker] and so on.
type Collection interface {
	// Recipes returns all recipes that the target offers, including Recipe.
	Recipes() []histories.Recipe
}

// RecipesOf returns the recipes of a target, in the order of histories.Recipes.
func RecipesOf(t Target) []histories.Recipe {
	c, ok := t.(Collection)
	if !ok {
		return []histories.Recipe{histories.Recipe(t.Recipe())}
	}
	offers := c.Recipes()
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !slices.Contains(offers, r) })
}

// Mixing is implemented by targets whose multi-locks may have a lock of recipe NonReentrant among
// their mutexes, as one permit of a semaphore is: Env.Locks has the recipe of each.
type Mixing interface{ MixesLocks() bool }

// Settings holds the settings that a target's promises may depend on.
type Settings struct {
	SessionTimeout time.Duration
	TickTime       time.Duration // 0 when unknown
}

// Env is the environment of a target's client.
type Env struct {
	// Servers are the addresses (host:port) to connect to: this client's own links to the
	// servers.
	Servers []string
	// Dial must be used for every connection to them. Through it the harness
	// learns the client's session, counts its attempts, and takes its network
	// away when it crashes.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// SessionTimeout is the timeout to ask the servers for.
	SessionTimeout time.Duration
	// TickTime is the servers' tick, 0 when unknown.
	TickTime time.Duration
	// Root is the path under which the locks live. It exists.
	Root string
	// Auth holds the credentials to authenticate with, and the ACL of the nodes to create. It
	// is empty, and nodes are open, unless the run has credentials.
	Auth ensemble.Credentials
	// Locks are the locks of the run, by name; they include the size of a semaphore.
	Locks map[string]histories.Lock
	// Enqueued reports a place in a lock's queue, with the context given to Acquire. Fairness
	// is judged by these places; a target that promises no order need not call it.
	Enqueued func(ctx context.Context, place Place)
	// Suspended reports that the link of the lease with this token is down, or up again, and
	// that the lease has not been lost. Optional.
	Suspended func(token histories.Token, suspended bool)
	// Told reports each notification to an observer of the client, in the observer's order.
	// Notifications are judged if the target promises histories.Promises.Says.
	Told func(Notification)
	// Connection reports each change of the client's connection to the servers, in order:
	// histories.ConnectionConnected first, and so on. Optional; judged together with Told.
	Connection func(state string)
	// Choices are the options of the target that the application uses.
	Choices Choices
}

// Choices are options of a lock that an application may take or leave: no promise depends on
// them. A target uses those that it has, and ignores the others.
type Choices struct {
	Namespace bool // the client gets Root once, and not with each lock
	EndEarly  bool // a lease is given up as soon as its link is down
	Do        bool // a lock is held while a function of the application's runs, which the target calls
	Selector  bool // elections are those of Curator's LeaderSelector: the clients of a run agree on it
	Rule      bool // a rule of the application's own orders the queue, in the target's own order
}

// Fenced is implemented by targets that have a fence for the data that a lock guards. Without it the
// run uses a fence of its own.
type Fenced interface {
	// NewFence returns a new fence. It calls write unless it has admitted a newer token, and returns
	// an error if it does not.
	NewFence() func(token histories.Token, write func() error) error
}

// Concurrent is implemented by targets whose clients may be used by several goroutines at a
// time, as an application does that opens one client for all. Some clients of a run then share
// one.
type Concurrent interface{ Concurrent() bool }
