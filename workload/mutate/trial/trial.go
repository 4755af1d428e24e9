package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/mutate"
)

// Stage is the part of a trial that one runner makes. A later stage tries the mutants that no
// earlier one has killed.
type Stage struct {
	Name     string // its name in results
	Runner   Runner
	Settings []Setting // of its runs, at least one, in the order in which they are made
	Jobs     int       // runs at a time, at least 1
	// ByReach makes the runs of a mutant that reach the fewest mutants first.
	ByReach bool
	// Spares leaves out runs that do not hold without a mutant, instead of returning an error.
	Spares bool
}

// The names of the stages that zkverify mutate has.
const (
	InRuns  = "runs"
	InTests = "tests"
	InRaces = "races" // tests with the race detector
)

// Config configures a trial.
type Config struct {
	Program string          // made by mutate.Program.Build
	Mutants []mutate.Mutant // in the order in which they are tried
	Stages  []Stage         // at least one, in the order of the terms of the results
	Results *Results        // file of the results; those in it are not made again
	Scratch string          // a folder for runs, each of which is removed when it has ended

	// Ended, if not nil, is called with each result, one after the other.
	Ended func(Result)
}

// ErrBaseline is returned when a run without a mutant does not hold.
var ErrBaseline = errors.New("a run of the recipes as they are does not hold")

// Try tries the mutants, until all have been tried or ctx ends. The error is that of ctx,
// ErrBaseline, or one of the runner or of the file.
func Try(ctx context.Context, c Config) error {
	for i := range c.Stages {
		if err := c.pass(ctx, i); err != nil || ctx.Err() != nil {
			return cmp.Or(err, context.Cause(ctx))
		}
	}
	return nil
}

// pass tries the mutants in a stage.
func (c Config) pass(ctx context.Context, i int) error {
	stage, left := c.Stages[i], c.Results.left(c.Mutants, i)
	if len(left) == 0 {
		return nil
	}
	reached, err := c.probe(ctx, stage)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if stage.ByReach {
		stage.Settings = slices.Clone(stage.Settings)
		slices.SortStableFunc(stage.Settings, func(a, b Setting) int { return len(reached[a]) - len(reached[b]) })
	}
	return campaign.Make(ctx, &campaign.Campaign{Jobs: stage.Jobs}, slices.Values(left), func(ctx context.Context, m mutate.Mutant) (Result, error) {
		r := c.Results.before(m)
		r.Stages = i + 1
		return r, c.try(ctx, stage, &r, reached)
	}, func(_ mutate.Mutant, r Result) error {
		if err := c.Results.add(r); err != nil {
			return err
		}
		if c.Ended != nil {
			c.Ended(r)
		}
		return nil
	})
}

// probe returns the mutants that the runs of a stage reach, by setting.
func (c Config) probe(ctx context.Context, stage Stage) (map[Setting]map[int]bool, error) {
	all := map[Setting]map[int]bool{}
	runs := &campaign.Campaign{Jobs: stage.Jobs}
	return all, campaign.Make(ctx, runs, slices.Values(stage.Settings), func(ctx context.Context, of Setting) (baseline, error) {
		return c.baseline(ctx, runs, stage, of)
	}, func(of Setting, b baseline) error {
		all[of] = map[int]bool{}
		for _, n := range b.Reached {
			all[of][n] = true
		}
		return nil
	})
}

// baseline returns the result of the run of a setting without a mutant, and makes the run if
// need be.
func (c Config) baseline(ctx context.Context, runs *campaign.Campaign, stage Stage, of Setting) (baseline, error) {
	if b, ok := c.Results.baseline(of); ok {
		return b, nil
	}
	var o Outcome
	var reached []int
	if err := runs.UntilShown(ctx, of.String(), func(int) (void string, err error) {
		o, reached, err = c.run(ctx, stage.Runner, mutate.Probe, of)
		if o.End == Failed || o.End == Hung || o.End == Void { // it may be chance
			void = string(o.End)
		}
		return void, err
	}); err != nil {
		return baseline{}, err
	}
	b := baseline{Setting: of, Reached: reached}
	switch {
	case o.End != Held && stage.Spares:
		b.Reached, b.Unfit = nil, fmt.Sprintf("%s %s", o.End, o.Reason)
	case o.End != Held:
		return baseline{}, fmt.Errorf("%w: %s: %s: %s %s", ErrBaseline, of, o.End, strings.Join(o.Guarantees, ", "), o.Reason)
	}
	return b, c.Results.addBaseline(b)
}

// inconclusive is the number of runs without a verdict that kill a mutant, and of failures of
// one test: one may be chance.
const inconclusive = 2

// try makes runs with a mutant until one kills it.
func (c Config) try(ctx context.Context, stage Stage, r *Result, reached map[Setting]map[int]bool) error {
	without := 0
	for _, of := range stage.Settings {
		if !reached[of][r.Mutant.Number] {
			continue
		}
		if r.Status = Survived; !slices.Contains(r.ReachedBy, stage.Name) {
			r.ReachedBy = append(r.ReachedBy, stage.Name)
		}
		failures := 0
		for again := true; again; {
			o, _, err := c.run(ctx, stage.Runner, r.Mutant.Number, of)
			if err != nil {
				return err
			}
			r.Runs++
			again = false
			switch o.End {
			case Violated:
				r.kill(stage, of, o.Reason, o.Guarantees...)
			case Panicked:
				r.kill(stage, of, o.Reason, string(o.End))
			case Failed:
				if failures++; failures == inconclusive {
					r.kill(stage, of, o.Reason, string(o.End))
				}
				again = true
			case Hung, Void:
				if without++; without == inconclusive {
					r.kill(stage, of, o.Reason, string(o.End))
				}
				again = true
			}
			if r.Status == Killed {
				return nil
			}
		}
	}
	return nil
}

func (r *Result) kill(stage Stage, of Setting, reason string, by ...string) {
	r.Status, r.Stage, r.Of, r.Reason, r.By = Killed, stage.Name, &of, reason, by
}

// run makes one run, and returns the mutants that it reached if it is a probe.
func (c Config) run(ctx context.Context, runner Runner, number int, of Setting) (Outcome, []int, error) {
	dir, err := os.MkdirTemp(c.Scratch, "run-")
	if err != nil {
		return Outcome{}, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "reached")
	env := []string{mutate.EnvMutant + "=" + strconv.Itoa(number)}
	if number == mutate.Probe {
		env = append(env, mutate.EnvReached+"="+file)
	}
	o, err := runner.Run(ctx, Run{Program: c.Program, Setting: of, Dir: dir, Env: env})
	if err != nil {
		return Outcome{}, nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Outcome{}, nil, err
	}
	var reached []int
	for _, n := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(n); err == nil {
			reached = append(reached, n)
		}
	}
	return o, reached, nil
}
