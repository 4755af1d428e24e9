package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/drive"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// Recorder records the events of a run. [histories.Recorder] is one.
type Recorder = journal.Recorder

// Config configures a run. Ensemble, Network, Target and Recorder are required; the zero value
// of every other field means its default.
type Config struct {
	Ensemble ensemble.Ensemble // stays open after the run
	Network  links.Network     // carries the clients' links; stays open too
	Target   lock.Target
	Recorder Recorder // the caller closes it

	// Recipes are the recipes of the target to drive, see SelectRecipes. Default Target.Recipe
	// alone.
	Recipes []histories.Recipe

	Seed    int64
	Clients int // default DefaultClients
	// Pairs is the number of pairs of clients that share a client of the target, and so a
	// session, if the target is a lock.Concurrent. Default a fifth of Clients, or half of
	// Clients if the hand-off within a client is the only recipe; negative: none, as with
	// Workers.
	Pairs int
	// Sessions, if it is not 0, is the number of sessions that all clients of a lock.Concurrent
	// target share, and Pairs is ignored: client i has the session of client i%Sessions. So
	// hundreds of clients can want one lock at little cost.
	Sessions int
	// Locks is the number of locks of each recipe. Default 5, or 1 if several recipes are
	// driven: then clients meet less often at each.
	Locks    int
	Duration time.Duration // of the chaos phase; default 60 s
	// SessionTimeout is the timeout that clients ask for. The servers must allow it.
	// Default 2 s.
	SessionTimeout time.Duration
	// Shortens says that a server may grant a shorter timeout to a client that connects again: then the
	// deadline of its leases comes closer.
	Shortens bool
	// RoundTrip is the average time of a request and its answer on the clients' links, if it is
	// longer than on a local network: clients get that much longer to recover. Default 0.
	RoundTrip time.Duration
	Mix       cycle.Mix
	// Foreign is the name of a node in the directory of each lock that is no contender. Default
	// none.
	Foreign string

	// Auth holds the credentials of all clients, and of the harness's own. They own all nodes.
	// Default none: open nodes.
	Auth ensemble.Credentials

	// Workers are the processes that host the clients, and that faults pause and kill. The
	// default is none: clients live in this process.
	Workers remote.Config
	// Processes lets faults pause and kill each application (the clients that share a session)
	// as if it had a process of its own. It needs a bubble on a seeded runtime, and no Workers.
	Processes bool

	// Schedule is carried out if it is not nil; otherwise one is drawn from
	// Faults and Seed.
	Schedule *nemesis.Schedule
	// Faults are names of faults, "all" or "none". Default all that the
	// ensemble can have.
	Faults []string
	// Kinds are the faults that Faults and Schedule may name. Default faults.List(); append
	// faults of your own to it.
	Kinds fault.Kinds
	// Weights replaces the faults' weights in the draw, by name.
	Weights map[string]int

	// Progress is called with the run's progress about five times a second, by one goroutine,
	// and once at the end. It must not block.
	Progress func(Progress)
}

// Progress is the progress of a run.
type Progress struct {
	Phase    string
	Elapsed  time.Duration // since the chaos phase began
	Duration time.Duration // of the chaos phase
	Ops      int64         // operations completed
	Cycles   int64         // locks acquired and released
	Held     int64         // leases held now
	Lost     int64         // leases that were reported lost to their holders
	Expired  int64         // sessions that the ensemble ended
	Faults   []string      // in force
}

// Result is the outcome of a run. It does not say whether the lock is correct: the checker
// judges that from the history.
type Result struct {
	Ops     int64 // operations completed
	Cycles  int64 // locks acquired and released, recovery included
	Chaos   time.Duration
	Expired int64 // sessions that the ensemble ended
	// ExpiredBusy counts those whose client was holding or waiting.
	ExpiredBusy int64
	// HeldAcross counts leases that were held when a fault that hit their client began.
	HeldAcross int64
	Schedule   nemesis.Schedule
	Nemesis    nemesis.Report
	// Stuck names the clients that did not get a lock in the recovery phase, and the lock:
	// "client 3: lock-1".
	Stuck  []string
	Census histories.Census
	// Service holds the acts of the servers, if their logs can be read; otherwise nil.
	Service *service.Log
	// Lateness is the time that the lines of worker processes took to arrive.
	Lateness remote.Lateness
	// Interrupted reports that the context ended the run early: recovery and census are missing
	// from the history.
	Interrupted bool
	// Warnings are defects of the run that do not spoil the history: things that could not be
	// counted or cleaned up.
	Warnings []string
}

func (c Config) withDefaults() (Config, error) {
	if c.Ensemble == nil || c.Network == nil || c.Target == nil || c.Recorder == nil {
		return c, errors.New("workload: Ensemble, Network, Target and Recorder are required")
	}
	c = c.withSizes()
	if c.Clients < 0 || c.Locks < 0 || c.Duration < 0 || c.SessionTimeout < 0 || c.RoundTrip < 0 {
		return c, errors.New("workload: numbers of clients and locks, and durations, must not be negative")
	}
	if c.Workers.N > 0 && (len(c.Workers.Command) == 0 || c.Workers.Logs == "") {
		return c, errors.New("workload: workers need a command and a folder for their logs")
	}
	if c.Processes && (c.Workers.N > 0 || !seeded.Exact()) {
		return c, errors.New("workload: Processes needs a seeded runtime, and no Workers")
	}
	if c.Workers.N > c.Clients {
		return c, fmt.Errorf("workload: %d clients do not fill %d worker processes", c.Clients, c.Workers.N)
	}
	for _, r := range c.Recipes {
		if !slices.Contains(lock.RecipesOf(c.Target), r) {
			return c, fmt.Errorf("workload: target %s does not offer %s", c.Target.Name(), r)
		}
	}
	if len(c.Faults) == 0 {
		c.Faults = []string{"all"}
	}
	if c.Kinds == nil {
		c.Kinds = faults.List()
	}
	if err := c.Kinds.Check(); err != nil {
		return c, err
	}
	c.Mix = c.Mix.WithDefaults()
	if c.Schedule == nil {
		kinds, err := c.Kinds.Select(c.Faults, c.Ensemble, c.Workers.N > 0 || c.Processes)
		if err != nil {
			return c, err
		}
		s := nemesis.Draw(nemesis.Plan{Seed: c.Seed, Duration: c.Duration, SessionTimeout: c.SessionTimeout, Kinds: kinds, Weights: c.Weights, Clients: c.Clients})
		c.Schedule = &s
	}
	return c, nil
}

// DefaultClients returns the default number of clients of a run of some recipes: 10, or two for
// each recipe if that is more, since it takes two to meet.
func DefaultClients(recipes []histories.Recipe) int { return max(10, 2*len(recipes)) }

// withSizes sets the defaults that the header of the history depends on.
func (c Config) withSizes() Config {
	if len(c.Recipes) == 0 {
		c.Recipes = []histories.Recipe{histories.Recipe(c.Target.Recipe())}
	}
	setDefault(&c.Clients, DefaultClients(c.Recipes))
	if len(c.Recipes) == 1 {
		setDefault(&c.Locks, 5)
	}
	setDefault(&c.Locks, 1)
	setDefault(&c.Duration, time.Minute)
	setDefault(&c.SessionTimeout, 2*time.Second)
	return c
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// settings returns the settings that the target's promises depend on.
func (c Config) settings() lock.Settings {
	return lock.Settings{SessionTimeout: c.SessionTimeout, TickTime: c.Ensemble.TickTime()}
}

// Header returns the header of the run's history, without Started and Options, which the caller
// sets. It needs Ensemble and Target, and reads Recipes, Seed, Clients, Locks and
// SessionTimeout if they are set.
func (c Config) Header() histories.Header {
	c = c.withSizes()
	other := ""
	if u, ok := c.Ensemble.(ensemble.Upgradable); ok && u.CanUpgrade() {
		other = u.OtherVersion()
	}
	observers := 0
	for _, s := range c.Ensemble.Servers() {
		if s.Observer {
			observers++
		}
	}
	return histories.Header{
		Seed: c.Seed, Target: c.Target.Name(), Recipe: strings.ReplaceAll(joined(c.Recipes), " ", ""),
		Promises: c.promises(), Locks: drive.LockTable(c.groups()),
		Ensemble: c.Ensemble.Kind(), Servers: len(c.Ensemble.Servers()), Clients: c.Clients, ZooKeeper: c.Ensemble.Version(), UpgradeTo: other, Observers: observers,
		SessionTimeout: c.SessionTimeout, TickTime: c.Ensemble.TickTime(),
	}
}

// turn is added to the bound of the recovery, besides a round trip, for each client and each
// lock: the clients share a machine. With ten recipes there are 360 turns; they take two
// seconds on an idle machine of two processors, and nine on one that has fifteen times as much
// to do.
const turn = 25 * time.Millisecond

// promises returns the promises of the target under this configuration.
func (c Config) promises() histories.Promises {
	p := c.Target.Promises(c.settings())
	setDefault(&p.ProgressBound, c.settings().ProgressBound())
	c = c.withSizes()
	p.ProgressBound += time.Duration(c.Clients*len(drive.LockTable(c.groups()))) * (turn + c.RoundTrip)
	p.Says = p.Says && c.Workers.N == 0 // workers are not asked
	return p
}

// groups lays out the locks of a run.
func (c Config) groups() []*drive.Group {
	m, mixes := c.Target.(lock.Mixing)
	return drive.LayOut(c.Recipes, c.Locks, c.Clients, mixes && m.MixesLocks() && c.Workers.N == 0)
}

// shared returns the state that the clients of a run share, as far as it is known before the
// run.
func (c Config) shared(life context.Context, groups []*drive.Group) *client.Shared {
	s := &client.Shared{
		Life: life, Seed: c.Seed, Clients: c.Clients, Target: c.Target, Promises: c.promises(),
		SessionTimeout: c.SessionTimeout, TickTime: c.Ensemble.TickTime(), Auth: c.Auth, Dialer: links.DialerOf(c.Network),
		Options: c.Mix.Options, Processes: c.Processes, Shortens: c.Shortens, Locks: drive.LockTable(groups), Counters: make(map[string]*client.Counters),
	}
	s.Faults = journal.NewCoverage(c.Recipes, s.Locks)
	for name := range s.Locks {
		s.Counters[name] = client.NewCounters(c.Target)
	}
	return s
}
