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
	Recipe         string            `json:"recipe"` // what was driven: names of recipes, comma-separated
	Target         string            `json:"target"` // "recipes", "zk-lock", …
	Promises       Promises          `json:"promises"`
	Locks          map[string]Lock   `json:"locks,omitempty"`   // by key; if any are listed, there are no others
	Options        map[string]string `json:"options,omitempty"` // every option of the run, as given on the command line
	Ensemble       string            `json:"ensemble"`          // "local", "docker", "external", "simulated"
	Servers        int               `json:"servers"`
	Observers      int               `json:"observers,omitempty"`  // how many of the servers are ZooKeeper observers, which do not vote
	Clients        int               `json:"clients,omitempty"`    // processes are numbered as in Jepsen: the next one of client i is i+Clients; 0 when they are not
	ZooKeeper      string            `json:"zookeeper"`            // the servers' version
	UpgradeTo      string            `json:"upgrade_to,omitempty"` // the other version that a fault may restart them as
	SessionTimeout time.Duration     `json:"session_timeout"`      // ns, negotiated
	TickTime       time.Duration     `json:"tick_time"`            // ns, 0 when unknown

	// ReleaseNotHeld says how a release that fails is read when nobody chooses:
	// [NotHeldAsLost], which is what an empty one means, or [NotHeldViolation].
	ReleaseNotHeld string `json:"release_not_held,omitempty"`

	// Models are those that a history of another tool is judged by, and Size what As says of
	// it; none of a history of zkverify.
	Models []string `json:"models,omitempty"`
	Size   int      `json:"size,omitempty"`

	// Shrunk says what was left out; nil of a whole history.
	Shrunk *Shrunk `json:"shrunk,omitempty"`
}

// Shrunk is what a history says of the whole one that it is a part of. It shows one
// violation, and is judged on nothing else.
type Shrunk struct {
	Guarantee string `json:"guarantee"` // the one that is violated
	Events    int    `json:"events"`    // of the whole history
	// Written has values of counters that were written, or may have been, by writes
	// that were left out: those just below the values that are left.
	Written []Written `json:"written,omitempty"`
}

// Written is a value of a guarded counter.
type Written struct {
	Lock  string `json:"lock"`
	Store string `json:"store"`
	Value int64  `json:"value"`
}

// The readings of a release that fails though nobody had told the holder of a
// loss. The checker's ReleaseNotHeld says what follows from each.
const (
	NotHeldAsLost    = "as-lost"   // the holder is told by it that it has lost the lock
	NotHeldViolation = "violation" // the lock had been taken away without a word
)

// Lock describes one lock key of a run.
type Lock struct {
	Recipe Recipe `json:"recipe"`
	// Size is the number of permits of a semaphore, at the start of the run if
	// it is shared, the number of members of a double barrier, and how often in a
	// row a hand-off may hand a lock on.
	Size int `json:"size,omitempty"`
}

// Versions says which versions of ZooKeeper the servers run in the course of the run, "" if that
// is not known.
func (h *Header) Versions() string {
	if h.UpgradeTo == "" {
		return h.ZooKeeper
	}
	return h.ZooKeeper + " and " + h.UpgradeTo
}

// RecipeOf returns the recipe of a lock key. In a history whose header lists no
// locks every key is of Header.Recipe, a mutex if that is no recipe.
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

// Promises is what the target claims; the checker holds it to that and to
// nothing else.
type Promises struct {
	Tokens        bool          `json:"tokens"`                 // grants carry fencing tokens
	TellsLoss     bool          `json:"tells_loss"`             // Lost is reported
	FIFO          bool          `json:"fifo"`                   // grants follow the order of enqueued
	FirstNode     bool          `json:"first_node,omitempty"`   // a lease is granted only when the nodes that other sessions have in the lock's directory and that are before its own are gone
	Reentrant     bool          `json:"reentrant"`              // an owner may acquire again
	Guards        bool          `json:"guards,omitempty"`       // a holder can write to ZooKeeper while it holds the lock, and no longer
	Says          bool          `json:"says,omitempty"`         // what it says of itself is so, see Saying
	LossBound     time.Duration `json:"loss_bound"`             // ns from a forced expiry to Lost
	RevokeBound   time.Duration `json:"revoke_bound,omitempty"` // ns from a revoke to its delivery, while the holder's lease lasts
	Connects      int           `json:"connects,omitempty"`     // attempts of a client to connect in any ConnectWindow
	TurnBound     time.Duration `json:"turn_bound,omitempty"`   // ns from when nobody is ahead in the queue, and a semaphore has room, until the first one in it is granted the lock
	ProgressBound time.Duration `json:"progress_bound"`         // ns from the start of recovery until every client got every lock; a run adds 25 ms for each pair of them, and it grows on a busy machine: see Slowed
}
