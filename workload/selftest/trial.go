package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// Trial is the result of a mutant, or of the unmutated recipe, in one provocation: that of the
// last run that it took.
type Trial struct {
	Provocation string           `json:"provocation"`
	Target      string           `json:"target"`
	Recipe      histories.Recipe `json:"recipe"`
	// Guarantee must catch the target; "" if no guarantee may be violated.
	Guarantee string `json:"guarantee,omitempty"`
	Seed      int64  `json:"seed"`

	OK     bool     `json:"ok"`               // the trial went as it should
	Why    string   `json:"why,omitempty"`    // the reason why it did not
	Fired  []string `json:"fired,omitempty"`  // guarantees that were violated
	Took   Seconds  `json:"took"`             // from the start of the first run to the last verdict
	Seen   *Seconds `json:"seen,omitempty"`   // on the run's clock: the first violation of Guarantee
	First  string   `json:"first,omitempty"`  // that violation, in words
	Kept   string   `json:"kept,omitempty"`   // the history, when something went wrong
	NotRun bool     `json:"notRun,omitempty"` // the ensemble cannot have its faults
	Runs   int      `json:"runs,omitempty"`   // number of seeds, the last of which is Seed
	Again  int      `json:"again,omitempty"`  // times that it was made again, having shown nothing
}

// untilCaught carries out the trial with so many seeds: a mutant until one of them catches it,
// the unmutated recipe as long as it passes. If it has shown nothing, it is carried out once more,
// with the next seed: the servers came to disagree with each other, or a fault found no client to
// hit. For the unmutated recipe that is chance, as when all clients had come to the leader and a
// follower was to be cut off.
func (t *Trial) untilCaught(ctx context.Context, c *campaign.Campaign, seeds int, run func(*Trial) (void bool, err error)) error {
	fresh := *t
	for n := range seeds {
		if err := c.UntilShown(ctx, t.Target, func(again int) (nothing string, err error) {
			*t = fresh
			t.Again = again
			t.Seed += int64(n*(campaign.Repeats+1) + again)
			void, err := run(t)
			if t.Runs = n + 1; void {
				nothing = t.Why
			}
			return nothing, err
		}); err != nil {
			return err
		}
		if t.NotRun || t.OK == (t.Guarantee != "") {
			break
		}
	}
	return nil
}

// run carries out the trial and judges it. A void trial has shown nothing.
func (t *Trial) run(ctx context.Context, cfg Config, p Provocation) (void bool, err error) {
	if why := impossible(cfg, p); why != "" {
		t.NotRun, t.Why = true, why
		return false, nil
	}
	if p.Config.Workers.N == 0 {
		return t.carryOut(ctx, cfg, p, nil)
	}
	logs := filepath.Join(cfg.Dir, fmt.Sprintf("workers-%s-%s", t.Provocation, t.Target))
	if err := errors.Join(os.RemoveAll(logs), os.Mkdir(logs, 0o755)); err != nil { // an earlier seed's are of no use
		return false, err
	}
	void, err = t.carryOut(ctx, cfg, p, func(run *workload.Config) { run.Workers.Command, run.Workers.Logs = cfg.Worker, logs })
	if t.OK || void {
		err = errors.Join(err, os.RemoveAll(logs))
	}
	return void, err
}

func (t *Trial) carryOut(ctx context.Context, cfg Config, p Provocation, also func(*workload.Config)) (void bool, err error) {
	done, err := t.record(ctx, cfg, p, time.Now(), also)
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, errors.Join(context.Cause(ctx), os.Remove(done.history))
	}
	return t.decide(ctx, done, p)
}

// file returns the name of the trial's history.
func (t *Trial) file() string { return t.Provocation + "-" + t.Target + ".jsonl" }

// recorded is a run on record.
type recorded struct {
	history string // its file
	faults  nemesis.Report
	failed  error // the error of the run itself
}

// record carries out the run that began at the given time. The function also, if not nil,
// completes its set-up.
func (t *Trial) record(ctx context.Context, cfg Config, p Provocation, began time.Time, also func(*workload.Config)) (recorded, error) {
	target, err := targets.Named(t.Target)
	if err != nil {
		return recorded{}, err
	}
	run := configOf(cfg, p, target, t.Seed)
	if also != nil {
		also(&run)
	}
	file := filepath.Join(cfg.Dir, t.file())
	header := run.Header()
	header.Started, header.Options = began, map[string]string{"provocation": p.Name}
	recorder, err := histories.Create(file, header)
	if err != nil {
		return recorded{}, err
	}
	run.Recorder = recorder
	result, runErr := workload.Run(ctx, run)
	if err := recorder.Close(); err != nil {
		return recorded{}, errors.Join(runErr, err)
	}
	return recorded{file, result.Nemesis, runErr}, nil
}

// decide judges the trial by its history.
func (t *Trial) decide(ctx context.Context, done recorded, p Provocation) (void bool, err error) {
	h, err := histories.ReadFile(done.history)
	if err != nil {
		return false, errors.Join(done.failed, err)
	}
	r, err := checker.Check(ctx, h)
	if errors.Is(err, checker.ErrDisagreement) {
		t.Why, t.Kept = err.Error(), done.history
		return false, nil
	}
	if err != nil {
		return false, errors.Join(done.failed, err) // the history stays
	}
	t.judge(r, guaranteesOf(p))
	void = t.weigh(r, done.faults, done.failed)
	if t.OK {
		return false, os.Remove(done.history)
	}
	t.Kept = done.history
	return void, nil
}

// configOf returns the configuration of a run of a provocation, without its recorder and its
// workers.
func configOf(cfg Config, p Provocation, target lock.Target, seed int64) workload.Config {
	run := p.Config
	run.Ensemble, run.Network, run.Auth, run.Target, run.Seed = cfg.Ensemble, cfg.Network, cfg.Auth, target, seed
	run.SessionTimeout, run.Progress = cmp.Or(p.Config.SessionTimeout, SessionTimeout), cfg.Progress
	if run.Pairs == 0 {
		run.Pairs = -1
	}
	return run
}

// skippedOf is the number of faults of which one may be skipped in a run of the unmutated
// recipe that shows something: of many deletions one comes too late now and then, when the node
// is gone. If there are fewer faults each must strike.
const skippedOf = 10

// weigh judges the report of a run that did not go as it should and has failed with runErr if
// that is not nil. A void run shows nothing.
func (t *Trial) weigh(r *checker.Report, faults nemesis.Report, runErr error) (void bool) {
	switch {
	case r.Void():
		t.OK, t.Why, void = false, r.Reason(), true
	case runErr != nil && t.Guarantee == "":
		t.OK, t.Why = false, runErr.Error()
	case len(faults.Skipped) > faults.Struck/skippedOf && t.Guarantee == "" && len(t.Fired) == 0:
		t.OK, t.Why, void = false, "a fault did not strike: "+faults.Skipped[0].Reason, true
	}
	if runErr != nil && t.Guarantee != "" && !t.OK {
		t.Why += "; the run failed: " + runErr.Error()
	}
	return void
}

// impossible returns the reason why the provocation cannot be carried out on this ensemble.
func impossible(cfg Config, p Provocation) string {
	if p.Config.Workers.N > 0 && len(cfg.Worker) == 0 {
		return "there is no command of a worker process"
	}
	if p.Config.Schedule == nil {
		return ""
	}
	for _, step := range p.Config.Schedule.Steps {
		if _, err := faults.List().Select([]string{step.Fault}, cfg.Ensemble, p.Config.Workers.N > 0 || p.Config.Processes); err != nil {
			return err.Error()
		}
	}
	return ""
}

// guaranteesOf returns the guarantees that the provocation is to exercise.
func guaranteesOf(p Provocation) (all []string) {
	for _, m := range p.Mutants {
		if g := guaranteeFor(m); !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

// judge decides from the checker's report whether the trial went as it should. A mutant must be
// caught by its own guarantee. The unmutated recipe must violate no guarantee, and must have
// exercised each that its mutants break: a guarantee that is not exercised is never violated.
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
