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
	"github.com/zkverify/zkverify/workload/internal/activity"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/drive"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// Recorder is where a run is recorded. [histories.Recorder] is one.
type Recorder = journal.Recorder

// Config is what a run needs. Ensemble, Network, Target and Recorder are
// required; the zero value of every other field means its default.
type Config struct {
	Ensemble ensemble.Ensemble // stays open after the run
	Network  links.Network     // carries the clients' links; stays open too
	Target   lock.Target
	Recorder Recorder // the caller closes it

	// Recipes are those of the target to drive, see SelectRecipes. Default
	// Target.Recipe alone.
	Recipes []histories.Recipe

	Seed    int64
	Clients int // default DefaultClients
	// Pairs is how many pairs of clients share a client of the target, and so a
	// session, if the target is a lock.Concurrent. Default a fifth of Clients, or all
	// where a hand-off within a client is all that is driven; negative: none, as with
	// Workers.
	Pairs int
	// Sessions, if it is not 0, is how many sessions there are for all clients of a
	// lock.Concurrent target, whatever Pairs says: client i has that of client i%Sessions.
	// So hundreds of clients can want one lock at little cost.
	Sessions int
	// Locks is how many of each recipe. Default 5, or 1 if several recipes
	// are driven: then clients meet less often at each.
	Locks    int
	Duration time.Duration // of the chaos phase; default 60 s
	// SessionTimeout is what clients ask for, and must lie in what the
	// servers allow. Default 2 s.
	SessionTimeout time.Duration
	// RoundTrip is how long a request to the servers and its answer take on the clients'
	// links, on average, if that is more than on a local network: clients get the longer to
	// recover. Default 0.
	RoundTrip time.Duration
	Mix       cycle.Mix
	// Foreign is the name of a node that lies in the directory of each lock and
	// is no contender. Default none.
	Foreign string

	// Auth is what all clients authenticate by, those of the harness too, and whose
	// nodes all are. Default none: open nodes.
	Auth ensemble.Credentials

	// Workers are processes for the clients to live in, which faults pause and
	// kill. The default is none: clients live in this process.
	Workers remote.Config
	// Processes has faults pause and kill each application (the clients that share a session)
	// as if it had a process of its own. That needs a bubble on a seeded runtime, and no Workers.
	Processes bool

	// Schedule is carried out if it is not nil; otherwise one is drawn from
	// Faults and Seed.
	Schedule *nemesis.Schedule
	// Faults are names of faults, "all" or "none". Default all that the
	// ensemble can have.
	Faults []string
	// Kinds are what Faults and Schedule may name. Default faults.List(); append
	// faults of your own to it.
	Kinds fault.Kinds
	// Weights replaces the faults' weights in the draw, by name.
	Weights map[string]int

	// Progress is told how the run stands about five times a second, by one
	// goroutine, and once at the end. It must not block.
	Progress func(Progress)
}

// Progress is how a run stands.
type Progress struct {
	Phase    string
	Elapsed  time.Duration // since the chaos phase began
	Duration time.Duration // of the chaos phase
	Ops      int64         // operations completed
	Cycles   int64         // locks acquired and released
	Held     int64         // leases held now
	Lost     int64         // leases that their holders were told to have lost
	Expired  int64         // sessions that the ensemble ended
	Faults   []string      // in force
}

// Result is what a run has done. It does not say whether the lock is correct:
// the history does, to the checker.
type Result struct {
	Ops     int64 // operations completed
	Cycles  int64 // locks acquired and released, recovery included
	Chaos   time.Duration
	Expired int64 // sessions that the ensemble ended
	// ExpiredBusy counts those whose client was holding or waiting.
	ExpiredBusy int64
	// HeldAcross counts leases held when a fault began that hit their client.
	HeldAcross int64
	Schedule   nemesis.Schedule
	Nemesis    nemesis.Report
	// Stuck names the clients that did not get a lock in the recovery phase:
	// "client 3: lock-1".
	Stuck  []string
	Census histories.Census
	// Service is what the servers did, of servers whose logs can be read; otherwise nil.
	Service *service.Log
	// Lateness is how long the lines of worker processes were under way.
	Lateness remote.Lateness
	// Interrupted says that the context ended the run early: recovery and
	// census are missing from the history.
	Interrupted bool
	// Warnings are defects of the run that do not spoil the history: what
	// could not be counted or cleaned up.
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

// DefaultClients is how many clients a run of some recipes has by default: 10, or
// two for each recipe if that is more, since it takes two to meet.
func DefaultClients(recipes []histories.Recipe) int { return max(10, 2*len(recipes)) }

// withSizes fills in what the header of the history depends on.
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

// settings is what the target's promises depend on.
func (c Config) settings() lock.Settings {
	return lock.Settings{SessionTimeout: c.SessionTimeout, TickTime: c.Ensemble.TickTime()}
}

// Header is that of the run's history, but for Started and Options, which are
// the caller's. It needs Ensemble, Target, and what else is set of Recipes, Seed,
// Clients, Locks and SessionTimeout.
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

// turn is what each client takes for each lock in recovery, besides a round trip, added to
// the bound: they share a machine. With ten recipes that is 360 turns; they take two seconds on an
// idle machine of two processors, and nine on one that has fifteen times as much to
// do.
const turn = 25 * time.Millisecond

// promises is what the target promises under this configuration.
func (c Config) promises() histories.Promises {
	p := c.Target.Promises(c.settings())
	setDefault(&p.ProgressBound, c.settings().ProgressBound())
	c = c.withSizes()
	p.ProgressBound += time.Duration(c.Clients*len(drive.LockTable(c.groups()))) * (turn + c.RoundTrip)
	p.Says = p.Says && c.Workers.N == 0 // workers are not asked
	return p
}

// groups lays out the locks of a run.
func (c Config) groups() []*drive.Group { return drive.LayOut(c.Recipes, c.Locks, c.Clients) }

// shared is what the clients of a run have in common, as far as it is known before the
// run.
func (c Config) shared(life context.Context, groups []*drive.Group) *client.Shared {
	s := &client.Shared{
		Life: life, Seed: c.Seed, Clients: c.Clients, Target: c.Target, Promises: c.promises(),
		SessionTimeout: c.SessionTimeout, TickTime: c.Ensemble.TickTime(), Auth: c.Auth, Dialer: links.DialerOf(c.Network),
		Options: c.Mix.Options, Processes: c.Processes, Locks: drive.LockTable(groups), Counters: make(map[string]*client.Counters),
	}
	s.Faults = activity.NewCoverage(c.Recipes, s.Locks)
	for name := range s.Locks {
		s.Counters[name] = new(client.Counters)
	}
	return s
}
