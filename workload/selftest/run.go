package selftest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/campaign"
)

// unmutated is the target that must pass every provocation.
const unmutated = "recipes"

// Config configures a self-test. Dir is required, and Ensemble and Network too unless all
// trials are carried out in virtual time.
type Config struct {
	Ensemble     ensemble.Ensemble    // stays open
	Auth         ensemble.Credentials // of the clients; default none
	Network      links.Network        // stays open
	Provocations []Provocation        // see Select
	Seed         int64                // of the first run of each trial
	// Seeds is the number of seeds with which a mutant runs until it is caught, at least 1. In
	// virtual time the unmutated recipe must pass with all of them, else with the first.
	Seeds int
	// Dir is the folder for histories. Only the history of a trial that went wrong is kept.
	Dir string
	// Worker is the command of a worker process, as in workload.Workers, for provocations whose
	// clients live in worker processes. Without a command these are not run.
	Worker []string
	// Virtual, if not nil, carries out trials in virtual time: all that InVirtualTime.
	Virtual *Virtual

	// Began is called with each trial before it begins: the n-th of so many. Ended is called
	// with its result. Both may be nil; calls of them do not overlap.
	Began func(n, of int, t Trial)
	Ended func(t Trial)
	// Progress is called with the progress of the run of a trial, as workload.Config.Progress
	// is, but not of one in virtual time. It may be nil.
	Progress func(workload.Progress)
}

// Run carries out each provocation: its mutants in turn, then the unmutated recipe; first the
// trials in virtual time, several of them at once. The end of ctx ends it early, with the
// results until then.
//
// The error says why the self-test could not go on. A mutant that escapes is no error: it is in
// the matrix.
func Run(ctx context.Context, cfg Config) (*Matrix, error) {
	m := &Matrix{Seed: cfg.Seed, ZooKeeper: cfg.zooKeeper()}
	start := time.Now()
	defer func() { m.Took = Seconds(time.Since(start)) }()
	all := trialsOf(cfg)
	var err error
	for _, virtual := range []bool{true, false} {
		if err == nil {
			err = runTrials(ctx, cfg, all, virtual)
		}
	}
	for _, t := range all {
		if t.done {
			m.Trials = append(m.Trials, t.Trial)
		}
	}
	m.Interrupted = ctx.Err() != nil && len(m.Trials) < len(all) // half a run shows nothing
	if m.Interrupted {
		err = nil
	}
	return m, err
}

// trialOf is a trial of a provocation.
type trialOf struct {
	Trial
	provocation Provocation
	done        bool
}

func trialsOf(cfg Config) (all []*trialOf) {
	for _, p := range cfg.Provocations {
		for _, target := range append(slices.Clone(p.Mutants), unmutated) {
			t := Trial{Provocation: p.Name, Target: target, Recipe: p.Recipe(), Guarantee: guaranteeFor(target), Seed: cfg.Seed}
			all = append(all, &trialOf{Trial: t, provocation: p})
		}
	}
	return all
}

// runTrials carries out the trials in virtual time, or the others.
func runTrials(ctx context.Context, cfg Config, all []*trialOf, virtual bool) error {
	c := &campaign.Campaign{}
	if virtual && cfg.Virtual != nil {
		c.Jobs = cfg.Virtual.Jobs
	}
	return campaign.Make(ctx, c, func(yield func(*trialOf) bool) {
		for i, t := range all {
			if cfg.Virtual.Can(t.provocation) != virtual {
				continue
			}
			if cfg.Began != nil {
				cfg.Began(i+1, len(all), t.Trial)
			}
			if !yield(t) {
				return
			}
		}
	}, func(ctx context.Context, t *trialOf) (Trial, error) {
		result, err := t.run(ctx, c, cfg, virtual)
		if err != nil {
			err = fmt.Errorf("%s in %s: %w", t.Target, t.Provocation, err)
		}
		return result, err
	}, func(t *trialOf, result Trial) error {
		t.Trial, t.done = result, true
		if cfg.Ended != nil {
			cfg.Ended(result)
		}
		return nil
	})
}

// run carries out the trial, and times it.
func (t *trialOf) run(ctx context.Context, c *campaign.Campaign, cfg Config, virtual bool) (Trial, error) {
	start, result := time.Now(), t.Trial
	seeds := cfg.Seeds
	if t.Guarantee == "" && !virtual {
		seeds = 1
	}
	err := result.untilCaught(ctx, c, seeds, func(trial *Trial) (void bool, err error) {
		if virtual {
			return cfg.Virtual.run(ctx, cfg.Dir, trial)
		}
		return trial.run(ctx, cfg, t.provocation)
	})
	result.Took = Seconds(time.Since(start))
	return result, err
}
