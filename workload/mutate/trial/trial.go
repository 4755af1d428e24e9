package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/workload/mutate"
)

// Config says what to do.
type Config struct {
	Program string // that mutate.Program.Build has made
	Runner  Runner
	Mutants []mutate.Mutant // in the order in which they are tried
	Seeds   []int64         // of the runs, at least one
	Jobs    int             // runs at a time, at least 1
	Results *Results        // where they go; mutants that have one are not tried again
	Scratch string          // a folder for runs, each of which is removed when it has ended

	// Ended, if not nil, is told of each result, one after the other.
	Ended func(Result)
}

// ErrBaseline is returned when a run without a mutant does not hold.
var ErrBaseline = errors.New("a run of the recipes as they are does not hold")

// Try tries the mutants, until all are or ctx ends. Its error is then that of ctx;
// else ErrBaseline, of the runner or of the file.
func Try(ctx context.Context, c Config) error {
	reached, err := c.probe(ctx)
	if err != nil {
		return err
	}
	var left []mutate.Mutant
	for _, m := range c.Mutants {
		if _, missing := c.Results.Of([]mutate.Mutant{m}); missing > 0 {
			left = append(left, m)
		}
	}
	ended := make(chan Result)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Jobs)
	told := make(chan struct{})
	// Ends when all mutants have.
	go func() {
		defer close(told)
		for r := range ended {
			if c.Ended != nil {
				c.Ended(r)
			}
		}
	}()
	for _, m := range left {
		// Ends with the runs of the mutant.
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r, err := c.try(ctx, m, reached)
			if err == nil {
				err = c.Results.add(r)
			}
			if err == nil {
				ended <- r
			}
			return err
		})
	}
	err = group.Wait()
	close(ended)
	<-told
	return err
}

// probe returns which mutants the runs reach, by seed.
func (c Config) probe(ctx context.Context) (map[int64]map[int]bool, error) {
	all := map[int64]map[int]bool{}
	var mu sync.Mutex // guards all
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Jobs)
	for _, seed := range c.Seeds {
		// Ends with the run of the seed.
		group.Go(func() error {
			b, err := c.baseline(ctx, seed)
			if err != nil {
				return err
			}
			reached := map[int]bool{}
			for _, n := range b.Reached {
				reached[n] = true
			}
			mu.Lock()
			defer mu.Unlock()
			all[seed] = reached
			return nil
		})
	}
	return all, group.Wait()
}

// baseline is what the run of a seed without a mutant has shown, which is made if need
// be.
func (c Config) baseline(ctx context.Context, seed int64) (baseline, error) {
	if b, ok := c.Results.baseline(seed); ok {
		return b, nil
	}
	o, reached, err := c.run(ctx, mutate.Probe, seed)
	if err == nil && (o.End == Hung || o.End == Void) { // once may be bad luck
		o, reached, err = c.run(ctx, mutate.Probe, seed)
	}
	if err != nil {
		return baseline{}, err
	}
	if o.End != Held {
		return baseline{}, fmt.Errorf("%w: seed %d: %s: %s %s", ErrBaseline, seed, o.End, strings.Join(o.Guarantees, ", "), o.Reason)
	}
	b := baseline{seed, reached}
	return b, c.Results.addBaseline(b)
}

// inconclusive is how many runs without a verdict kill a mutant: one may be bad luck.
const inconclusive = 2

// try makes runs with a mutant until one kills it.
func (c Config) try(ctx context.Context, m mutate.Mutant, reached map[int64]map[int]bool) (Result, error) {
	r := Result{Key: m.Key(), Mutant: m, Status: Unreached}
	without := 0
	for _, seed := range c.Seeds {
		if !reached[seed][m.Number] {
			continue
		}
		r.Status = Survived
		for again := true; again; {
			o, _, err := c.run(ctx, m.Number, seed)
			if err != nil {
				return Result{}, err
			}
			r.Runs++
			again = false
			switch o.End {
			case Violated:
				r.kill(seed, o.Reason, o.Guarantees...)
				return r, nil
			case Panicked:
				r.kill(seed, o.Reason, string(o.End))
				return r, nil
			case Hung, Void:
				if without++; without == inconclusive {
					r.kill(seed, o.Reason, string(o.End))
					return r, nil
				}
				again = true
			}
		}
	}
	return r, nil
}

func (r *Result) kill(seed int64, reason string, by ...string) {
	r.Status, r.Seed, r.Reason, r.By = Killed, seed, reason, by
}

// run makes one run, and returns the mutants that it reached.
func (c Config) run(ctx context.Context, number int, seed int64) (Outcome, []int, error) {
	dir, err := os.MkdirTemp(c.Scratch, "run-")
	if err != nil {
		return Outcome{}, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "reached")
	o, err := c.Runner.Run(ctx, Run{
		Program: c.Program, Seed: seed, Dir: dir,
		Env: []string{mutate.EnvMutant + "=" + strconv.Itoa(number), mutate.EnvReached + "=" + file},
	})
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
