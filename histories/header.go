package histories

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Header is the first line of a history.
type Header struct {
	Version        int               `json:"zkverify"` // format version
	Started        time.Time         `json:"started"`  // wall clock at time 0
	Seed           int64             `json:"seed"`
	Recipe         string            `json:"recipe"` // the recipes under test: names, comma-separated
	Target         string            `json:"target"` // "recipes", "zk-lock", …
	Promises       Promises          `json:"promises"`
	Locks          map[string]Lock   `json:"locks,omitempty"`   // by key; unless empty, the complete list
	Options        map[string]string `json:"options,omitempty"` // every option of the run, as given on the command line
	Ensemble       string            `json:"ensemble"`          // "local", "docker", "external", "simulated"
	Servers        int               `json:"servers"`
	Observers      int               `json:"observers,omitempty"`  // how many of the servers are ZooKeeper observers, which do not vote
	Clients        int               `json:"clients,omitempty"`    // processes are numbered as in Jepsen: client i's process p is followed by p+Clients; 0 when they are numbered otherwise
	ZooKeeper      string            `json:"zookeeper"`            // the servers' version
	UpgradeTo      string            `json:"upgrade_to,omitempty"` // the other version that a fault may restart them as
	SessionTimeout time.Duration     `json:"session_timeout"`      // ns, negotiated
	TickTime       time.Duration     `json:"tick_time"`            // ns, 0 when unknown

	// ReleaseNotHeld is the reading of a release that fails, unless the caller of the
	// checker chooses one: [NotHeldAsLost], which is the default, or [NotHeldViolation].
	ReleaseNotHeld string `json:"release_not_held,omitempty"`

	// Models are the models by which a history of another tool is judged, and Size is
	// As.Size. Both are empty in a history of zkverify.
	Models []string `json:"models,omitempty"`
	Size   int      `json:"size,omitempty"`

	// Shrunk describes the whole history of which this is a part; nil for a whole history.
	Shrunk *Shrunk `json:"shrunk,omitempty"`
}

// Shrunk describes the whole history from which a part was taken. The part shows one
// violation, and is judged by that guarantee alone.
type Shrunk struct {
	Guarantee string `json:"guarantee"` // the violated guarantee
	Events    int    `json:"events"`    // of the whole history
	// Written lists values of counters that were written, or may have been written, by
	// writes that were left out: the values just below those that are left.
	Written []Written `json:"written,omitempty"`
}

// Written is a value of a guarded counter.
type Written struct {
	Lock  string `json:"lock"`
	Store string `json:"store"`
	Value int64  `json:"value"`
}

// The readings of a release that fails though the holder had not been told of a
// loss. The checker's ReleaseNotHeld describes the consequences of each.
const (
	NotHeldAsLost    = "as-lost"   // the failed release tells the holder that it has lost the lock
	NotHeldViolation = "violation" // the lock was taken away without telling the holder
)

// Lock describes one lock key of a run.
type Lock struct {
	Recipe Recipe `json:"recipe"`
	// Size is the number of permits of a semaphore (of a shared semaphore, at the
	// start of the run), the number of members of a double barrier, or how often in a
	// row a hand-off may hand a lock on.
	Size int `json:"size,omitempty"`
}

// Versions returns the versions of ZooKeeper that the servers run in the course of the run, ""
// if they are not known.
func (h *Header) Versions() string {
	if h.UpgradeTo == "" {
		return h.ZooKeeper
	}
	return h.ZooKeeper + " and " + h.UpgradeTo
}

// Name returns the name of a process in sentences: that of its client, as in "client 4 (process
// 14)", if the header has the number of clients.
func (h *Header) Name(process int) string {
	name := fmt.Sprintf("process %d", process)
	if h.Clients == 0 || process < 0 {
		return name
	}
	client := fmt.Sprintf("client %d", process%h.Clients)
	if process < h.Clients {
		return client
	}
	return client + " (" + name + ")"
}

// RecipeOf returns the recipe of a lock key. If the header lists no locks, every
// key has Header.Recipe, or is a mutex if that names no single recipe.
func (h *Header) RecipeOf(lock string) Recipe {
	if l, ok := h.Locks[lock]; ok {
		return l.Recipe
	}
	if r := Recipe(h.Recipe); len(h.Locks) == 0 && slices.Contains(Recipes(), r) {
		return r
	}
	return Mutex
}

// check reports what is wrong with the header's times and locks.
func (h *Header) check() error {
	p := h.Promises
	for _, d := range []time.Duration{h.SessionTimeout, h.TickTime, p.LossBound, p.RevokeBound, p.TurnBound, p.ProgressBound} {
		if d < 0 || d > maxTime {
			return fmt.Errorf("a time of the header is %d", d)
		}
	}
	if h.Observers < 0 || h.Observers > h.Servers {
		return fmt.Errorf(`"observers" of the header is %d, of %d servers`, h.Observers, h.Servers)
	}
	if h.Clients < 0 {
		return fmt.Errorf(`"clients" of the header is %d`, h.Clients)
	}
	switch h.ReleaseNotHeld {
	case "", NotHeldAsLost, NotHeldViolation:
	default:
		return fmt.Errorf(`"release_not_held" of the header is %q`, h.ReleaseNotHeld)
	}
	for _, name := range h.Models {
		if m, err := ModelNamed(name); err != nil || m.Register {
			return fmt.Errorf(`"models" of the header has %.40q, which is no model of a lock`, name)
		}
	}
	if h.Size < 0 || h.Size > math.MaxInt32 {
		return fmt.Errorf(`"size" of the header is %d`, h.Size)
	}
	if h.Locks != nil && len(h.Locks) == 0 {
		return fmt.Errorf(`"locks" of the header is empty`)
	}
	for _, key := range slices.Sorted(maps.Keys(h.Locks)) {
		l := h.Locks[key]
		switch {
		case key == "":
			return fmt.Errorf("a lock of the header has no name")
		case !slices.Contains(Recipes(), l.Recipe):
			return fmt.Errorf("lock %q of the header is of unknown recipe %q", key, l.Recipe)
		case l.Recipe.sized() && (l.Size < 1 || l.Size > math.MaxInt32):
			return fmt.Errorf("%s %q of the header has size %d", l.Recipe, key, l.Size)
		case !l.Recipe.sized() && l.Size != 0:
			return fmt.Errorf("%s %q of the header has a size", l.Recipe, key)
		}
	}
	return nil
}

// Promises are the guarantees that the target claims. The checker judges the target by
// these alone.
type Promises struct {
	Tokens        bool          `json:"tokens"`                 // grants carry fencing tokens
	TellsLoss     bool          `json:"tells_loss"`             // Lost is reported
	FIFO          bool          `json:"fifo"`                   // grants follow the order of enqueued
	FirstNode     bool          `json:"first_node,omitempty"`   // a lease is granted only when the nodes of other sessions that precede its own in the lock's directory are gone
	Reentrant     bool          `json:"reentrant"`              // an owner may acquire again
	Guards        bool          `json:"guards,omitempty"`       // a holder can write to ZooKeeper while it holds the lock, and no longer
	Says          bool          `json:"says,omitempty"`         // the target's reports of its own state are true, see Saying
	Returns       bool          `json:"returns,omitempty"`      // a call returns when its context ends, and fails before that only by a refusal, a loss or a crash of its client; a lease is lost only if its session or its node is, or may be
	LossBound     time.Duration `json:"loss_bound"`             // ns from a forced expiry to Lost
	RevokeBound   time.Duration `json:"revoke_bound,omitempty"` // ns from a revoke to its delivery, while the holder's lease lasts
	Connects      int           `json:"connects,omitempty"`     // attempts of a client to connect in any ConnectWindow
	Repeats       int           `json:"repeats,omitempty"`      // requests of a client in any ConnectWindow that ask again what it has been told: see Connects.Repeats
	TurnBound     time.Duration `json:"turn_bound,omitempty"`   // ns from when a contender is first in the queue, and a semaphore has room, until it is granted the lock
	ProgressBound time.Duration `json:"progress_bound"`         // ns from the start of recovery until every client got every lock; a run adds 25 ms for each pair of a client and a lock, and the bound grows on a busy machine: see Slowed
}
