package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// unmutated is the target that must pass every provocation.
const unmutated = "recipes"

// Config is what a self-test needs. Ensemble, Network and Dir are required.
type Config struct {
	Ensemble     ensemble.Ensemble    // stays open
	Auth         ensemble.Credentials // what clients authenticate by; default nobody's
	Network      links.Network        // stays open
	Provocations []Provocation        // see Select
	Seed         int64                // of every run
	// Dir is the folder for histories. Only that of a trial that did not go as
	// it should is kept.
	Dir string
	// Worker is the command of a worker process, for provocations whose clients live in
	// such, as that of workload.Workers is. Without one these are not run.
	Worker []string

	// Began is told of each trial before it begins: the n-th of so many. Ended
	// is told what came of it. Both may be nil.
	Began func(n, of int, t Trial)
	Ended func(t Trial)
	// Progress is told how the run of a trial stands, as workload.Config.Progress is.
	// It may be nil.
	Progress func(workload.Progress)
}

// Trial is one run: of a mutant, or of the recipe as it is, in one provocation.
type Trial struct {
	Provocation string           `json:"provocation"`
	Target      string           `json:"target"`
	Recipe      histories.Recipe `json:"recipe"`
	// Guarantee must catch the target; "" if none may be violated.
	Guarantee string `json:"guarantee,omitempty"`
	Seed      int64  `json:"seed"`

	OK     bool     `json:"ok"`               // as it should be
	Why    string   `json:"why,omitempty"`    // it is not
	Fired  []string `json:"fired,omitempty"`  // guarantees that were violated
	Took   Seconds  `json:"took"`             // from the start of the run to the verdict
	Seen   *Seconds `json:"seen,omitempty"`   // on the run's clock: the first violation of Guarantee
	First  string   `json:"first,omitempty"`  // that violation, in words
	Kept   string   `json:"kept,omitempty"`   // the history, when something went wrong
	NotRun bool     `json:"notRun,omitempty"` // the ensemble cannot have its faults
	Again  int      `json:"again,omitempty"`  // times that it was made again, having shown nothing
}

// voidTrials is how often a trial that has shown nothing is made again.
const voidTrials = 2

// Run carries out each provocation: its mutants in turn, then the recipe as it
// is. The end of ctx ends it early, with what it has.
//
// The error says why the self-test could not go on. That a mutant escaped is
// none: it is in the matrix.
func Run(ctx context.Context, cfg Config) (*Matrix, error) {
	m := &Matrix{Seed: cfg.Seed, ZooKeeper: cfg.Ensemble.Version()}
	if cfg.Ensemble.Kind() == "simulated" {
		m.ZooKeeper += ", simulated"
	}
	start := time.Now()
	defer func() { m.Took = Seconds(time.Since(start)) }()
	var all []Trial
	var of []Provocation
	for _, p := range cfg.Provocations {
		for _, target := range append(slices.Clone(p.Mutants), unmutated) {
			all = append(all, Trial{
				Provocation: p.Name, Target: target, Recipe: p.Recipe(), Guarantee: guaranteeFor(target), Seed: cfg.Seed,
			})
			of = append(of, p)
		}
	}
	for i, t := range all {
		if ctx.Err() != nil {
			m.Interrupted = true
			return m, nil
		}
		if cfg.Began != nil {
			cfg.Began(i+1, len(all), t)
		}
		err := t.untilShown(func(t *Trial) (void bool, err error) { return t.run(ctx, cfg, of[i]) })
		if ctx.Err() != nil {
			m.Interrupted = true
			return m, nil // half a run shows nothing
		}
		if err != nil {
			return m, fmt.Errorf("%s in %s: %w", t.Target, t.Provocation, err)
		}
		m.Trials = append(m.Trials, t)
		if cfg.Ended != nil {
			cfg.Ended(t)
		}
	}
	return m, nil
}

// untilShown carries out the trial, and once more if it has shown nothing: the
// servers came to disagree with each other, or a fault found nobody to hit. Of the
// recipe as it is that is chance, as when all clients had come to the leader and a
// follower was to be cut off.
func (t *Trial) untilShown(run func(*Trial) (void bool, err error)) error {
	for fresh := *t; ; {
		if void, err := run(t); err != nil || !void || t.Again == voidTrials {
			return err
		}
		fresh.Again++
		*t = fresh
	}
}

// run carries out the trial and judges it by what is on record. A void one has shown
// nothing.
func (t *Trial) run(ctx context.Context, cfg Config, p Provocation) (void bool, err error) {
	start := time.Now()
	defer func() { t.Took = Seconds(time.Since(start)) }()
	if why := impossible(cfg, p); why != "" {
		t.NotRun, t.Why = true, why
		return false, nil
	}
	target, err := targets.Named(t.Target)
	if err != nil {
		return false, err
	}
	run := configOf(cfg, p, target, t.Seed)
	if run.Workers.N > 0 {
		logs, err := os.MkdirTemp(cfg.Dir, "workers-")
		if err != nil {
			return false, err
		}
		defer func() {
			if t.OK || void {
				err = errors.Join(err, os.RemoveAll(logs))
			}
		}()
		run.Workers.Command, run.Workers.Logs = cfg.Worker, logs
	}
	file := filepath.Join(cfg.Dir, fmt.Sprintf("%s-%s.jsonl", p.Name, t.Target))
	header := run.Header()
	header.Started, header.Options = start, map[string]string{"provocation": p.Name}
	recorder, err := histories.Create(file, header)
	if err != nil {
		return false, err
	}
	run.Recorder = recorder
	result, runErr := workload.Run(ctx, run)
	if err := recorder.Close(); err != nil {
		return false, errors.Join(runErr, err)
	}
	if ctx.Err() != nil {
		return false, errors.Join(context.Cause(ctx), os.Remove(file))
	}
	h, err := histories.ReadFile(file)
	if err != nil {
		return false, errors.Join(runErr, err)
	}
	r, err := checker.Check(ctx, h)
	if errors.Is(err, checker.ErrDisagreement) {
		t.Why, t.Kept = err.Error(), file
		return false, nil
	}
	if err != nil {
		return false, errors.Join(runErr, err) // the history stays
	}
	t.judge(r, guaranteesOf(p))
	void = t.weigh(r, result.Nemesis, runErr)
	if t.OK {
		return false, os.Remove(file)
	}
	t.Kept = file
	return void, nil
}

// configOf is how a run of a provocation is set up, but for its recorder and its
// workers.
func configOf(cfg Config, p Provocation, target lock.Target, seed int64) workload.Config {
	run := p.Config
	run.Ensemble, run.Network, run.Auth, run.Target, run.Seed = cfg.Ensemble, cfg.Network, cfg.Auth, target, seed
	run.SessionTimeout, run.Progress = SessionTimeout, cfg.Progress
	if run.Pairs == 0 {
		run.Pairs = -1
	}
	return run
}

// weigh says what a run shows that was judged, did not go as it should and has failed
// with runErr if that is not nil. A void one shows nothing.
func (t *Trial) weigh(r *checker.Report, faults nemesis.Report, runErr error) (void bool) {
	switch {
	case r.Void():
		t.OK, t.Why, void = false, r.Reason(), true
	case runErr != nil && t.Guarantee == "":
		t.OK, t.Why = false, runErr.Error()
	case len(faults.Skipped) > 0 && t.Guarantee == "" && len(t.Fired) == 0:
		t.OK, t.Why, void = false, "a fault did not strike: "+faults.Skipped[0].Reason, true
	}
	if runErr != nil && t.Guarantee != "" && !t.OK {
		t.Why += "; the run failed: " + runErr.Error()
	}
	return void
}

// impossible says why the provocation cannot be carried out on this ensemble.
func impossible(cfg Config, p Provocation) string {
	if p.Config.Workers.N > 0 && len(cfg.Worker) == 0 {
		return "there is no command of a worker process"
	}
	if p.Config.Schedule == nil {
		return ""
	}
	for _, step := range p.Config.Schedule.Steps {
		if _, err := faults.List().Select([]string{step.Fault}, cfg.Ensemble, p.Config.Workers.N > 0); err != nil {
			return err.Error()
		}
	}
	return ""
}

// guaranteesOf returns those that the provocation is to put to the test.
func guaranteesOf(p Provocation) (all []string) {
	for _, m := range p.Mutants {
		if g := guaranteeFor(m); !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

// judge decides from the checker's report whether the trial went as it should.
// A mutant must be caught by its own guarantee. The recipe as it is must violate
// none, and must have been put to the test on each that its mutants break: one
// that was not exercised would pass whatever it does.
func (t *Trial) judge(r *checker.Report, exercised []string) {
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Violated {
			t.Fired = append(t.Fired, v.Guarantee)
		}
	}
	if t.Guarantee != "" {
		v := r.Verdict(t.Guarantee)
		switch {
		case v == nil:
			t.Why = t.Guarantee + " is not judged of this recipe"
		case v.Outcome != verdict.Violated:
			t.Why = fmt.Sprintf("escaped: %s", v)
		default:
			t.OK = true
			if len(v.Witnesses) > 0 {
				seen := Seconds(v.Witnesses[0].From)
				t.Seen, t.First = &seen, v.Witnesses[0].String()
			}
		}
		return
	}
	if r.Outcome() == verdict.Violated || r.Outcome() == verdict.Unknown {
		t.Why = r.Reason()
		return
	}
	for _, g := range exercised {
		if v := r.Verdict(g); v == nil || v.Outcome != verdict.Holds {
			t.Why = fmt.Sprintf("was not put to the test: %s", v)
			return
		}
	}
	t.OK = true
}
