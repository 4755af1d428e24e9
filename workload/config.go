package workload

import (
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
)

// Config is what a run needs. Ensemble, Network, Target and Recorder are
// required; the zero value of every other field means its default.
type Config struct {
	Ensemble ensemble.Ensemble // stays open after the run
	Network  links.Network     // carries the clients' links; stays open too
	Target   Target
	Recorder Recorder // the caller closes it

	Seed     int64
	Clients  int           // default 10
	Locks    int           // default 5
	Duration time.Duration // of the chaos phase; default 60 s
	// SessionTimeout is what clients ask for, and must lie in what the
	// servers allow. Default 2 s.
	SessionTimeout time.Duration
	Mix            Mix

	// Schedule is carried out if it is not nil; otherwise one is drawn from
	// Faults and Seed.
	Schedule *nemesis.Schedule
	// Faults are names of faults, "all" or "none". Default all that the
	// ensemble can have.
	Faults []string
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
	setDefault(&c.Clients, 10)
	setDefault(&c.Locks, 5)
	setDefault(&c.Duration, time.Minute)
	setDefault(&c.SessionTimeout, 2*time.Second)
	if c.Clients < 0 || c.Locks < 0 || c.Duration < 0 || c.SessionTimeout < 0 {
		return c, errors.New("workload: numbers of clients and locks, and durations, must not be negative")
	}
	if len(c.Faults) == 0 {
		c.Faults = []string{"all"}
	}
	c.Mix = c.Mix.withDefaults()
	if c.Schedule == nil {
		_, peers := c.Ensemble.(ensemble.PeerLinks)
		kinds, err := nemesis.Select(c.Faults, peers)
		if err != nil {
			return c, err
		}
		s := nemesis.Draw(nemesis.Plan{Seed: c.Seed, Duration: c.Duration, SessionTimeout: c.SessionTimeout, Kinds: kinds, Weights: c.Weights})
		c.Schedule = &s
	}
	return c, nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// settings is what the target's promises depend on.
func (c Config) settings() Settings {
	return Settings{SessionTimeout: c.SessionTimeout, TickTime: c.Ensemble.TickTime()}
}

// Promises is what the target promises under this configuration: what belongs
// in the history's header. Only Target, Ensemble and SessionTimeout matter.
func (c Config) Promises() histories.Promises {
	setDefault(&c.SessionTimeout, 2*time.Second)
	p := c.Target.Promises(c.settings())
	setDefault(&p.ProgressBound, progressBound(c.settings()))
	return p
}

// lockName is the key of a lock in the history, and its node's name.
func lockName(i int) string { return fmt.Sprintf("lock-%d", i) }
