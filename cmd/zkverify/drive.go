package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/models"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/lock"
)

// judged is a run that took place, and its report.
type judged struct {
	header histories.Header
	*checker.Report
}

// drive plans the run, carries it out, judges it and prints the verdicts. A nil schedule is
// drawn from the seed. The report is nil when there is nothing to judge; the error is that of
// Run.
func (r *runCmd) drive(ctx context.Context, con *console, schedule *nemesis.Schedule) (*judged, error) {
	plan, err := r.plan(ctx, schedule)
	if err != nil {
		return nil, err
	}
	out, style := con.out, con.style(r.Verbose)
	con = con.as(r.JSON, r.Quiet)
	done, failed := plan.carryOut(ctx, con)
	if done.History == "" {
		return nil, failed
	}
	// Judging goes on after an interrupt; a second one ends the program.
	ran, err := plan.judge(context.WithoutCancel(ctx), con, done)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	failed = errors.Join(failed, folder.Write(plan.dir, ran.header, ran.Report, done.Took))
	if failed != nil && ran.Outcome() == verdict.Violated {
		con.say("zkverify: %v", failed)
	}
	return ran, runEnd(ran.Outcome(), done.Interrupted, failed, plan.print(out, style, ran, done))
}

// runEnd returns the error of a run, which decides its exit status. A violation takes precedence
// over all other errors but that of a report that could not be printed.
func runEnd(o verdict.Outcome, interrupted bool, failed, unprinted error) error {
	if o == verdict.Violated {
		failed = nil
	}
	if err := errors.Join(failed, unprinted); err != nil {
		return err
	}
	if interrupted && o != verdict.Violated {
		o = verdict.Unknown
	}
	return outcome(o)
}

// plannedRun holds the settings of a run that are known before its servers are up.
type plannedRun struct {
	cmd      *runCmd
	target   lock.Target
	recipes  []histories.Recipe
	clients  int
	schedule *nemesis.Schedule // nil: drawn
	seed     int64
	started  time.Time
	dir      string
	kinds    []fault.Kind // the faults that the servers support; set once these are up
}

// plan checks that the run is possible, draws the seed and makes the folder.
func (r *runCmd) plan(ctx context.Context, schedule *nemesis.Schedule) (*plannedRun, error) {
	target, recipes, err := r.target(ctx)
	if err != nil {
		return nil, err
	}
	p := &plannedRun{cmd: r, target: target, recipes: recipes, clients: r.clients(recipes), schedule: schedule}
	if r.Workers.N > p.clients {
		return nil, usage("--workers is %d, more than there are clients (%d)", r.Workers.N, p.clients)
	}
	if schedule != nil {
		if r.Faults = schedule.Names(faults.List()); len(r.Faults) == 0 {
			r.Faults = []string{"none"}
		}
		if err := schedule.Fits(faults.List(), nil, p.clients, r.Duration); err != nil {
			return nil, usageError{err}
		}
	}
	if _, err := faults.List().Select(r.Faults, nil, r.Workers.N > 0); err != nil {
		return nil, usageError{err}
	}
	p.seed = nemesis.DrawSeed()
	if r.Seed != nil {
		p.seed = *r.Seed
	}
	p.started = time.Now()
	p.dir, err = makeFolder(r.Out, p.started, target.Name())
	return p, err
}

// carryOut starts the servers, or connects to running ones, and records the run. If the run did
// not take place, the history is empty and the error says why.
func (p *plannedRun) carryOut(ctx context.Context, con *console) (done folder.Recorded, err error) {
	con.say("zkverify %s: %s, seed %d, in %s", versionText(), driven(p.target, p.recipes), p.seed, p.dir)
	if p.seed%2 != 0 { // every second run, so that ids of both signs are common
		p.cmd.Servers.negativeSessions()
	}
	p.cmd.Servers.failpoints = faults.List().AskFailpoints(p.cmd.Faults)
	env, err := p.cmd.Servers.open(ctx, con, p.dir, runID(p.started, p.seed))
	if err != nil {
		os.Remove(p.dir) // fails unless it is empty: it may hold the log of a server that died
		return done, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	cfg, err := p.config(env)
	if err != nil {
		return done, err
	}
	con.say("faults: %s", kindNames(p.kinds))
	bar := newProgress(con)
	cfg.Progress = bar.update
	done, err = folder.Record(ctx, p.dir, cfg, p.started, p.cmd.options(p.recipes))
	bar.done()
	if done.History == "" {
		return done, usageError{err}
	}
	for _, w := range done.Warnings {
		con.say("warning: %s", w)
	}
	switch {
	case ctx.Err() != nil:
		con.say("interrupted: judging what there is")
	case err != nil:
		con.say("the run failed, judging what there is: %v", err)
	}
	return done, err
}

// config returns the configuration of the run, whose servers are up.
func (p *plannedRun) config(env *environment) (workload.Config, error) {
	r := p.cmd
	kinds, err := faults.List().Select(r.Faults, env.ensemble, r.Workers.N > 0)
	if err == nil && p.schedule != nil {
		err = p.schedule.Fits(faults.List(), env.ensemble, p.clients, r.Duration)
	}
	if err != nil {
		return workload.Config{}, usageError{err}
	}
	p.kinds = kinds
	cfg := workload.Config{
		Ensemble: env.ensemble, Network: env.network, Auth: env.auth, Target: p.target, Recipes: p.recipes,
		Seed: p.seed, Clients: p.clients, Duration: r.Duration,
		SessionTimeout: r.Servers.SessionTimeout, Mix: r.Mix.mix(), Faults: r.Faults, Schedule: p.schedule,
	}
	r.again.amend(&cfg)
	if r.Locks != nil {
		cfg.Locks = *r.Locks
	}
	cfg.Workers, err = r.Workers.workers(p.dir)
	return cfg, err
}

// judge judges the recorded history.
func (p *plannedRun) judge(ctx context.Context, con *console, done folder.Recorded) (*judged, error) {
	header, verdict, err := p.cmd.Engines.judge(ctx, con, done.History, recordedHere, countSituations, models.Caps{})
	if err != nil {
		return nil, err
	}
	if p.cmd.RequireCoverage {
		verdict.RequireCoverage(kindList(p.kinds))
	}
	return &judged{header, verdict}, nil
}

// print writes the report to out, unless the run is to be quiet and holds.
func (p *plannedRun) print(out io.Writer, style report.Style, ran *judged, done folder.Recorded) error {
	switch {
	case p.cmd.JSON:
		return report.JSON(out, ran.Report)
	case p.cmd.Quiet && ran.Outcome() == verdict.Holds:
		return nil
	}
	about := report.Run{Header: ran.header, Path: p.dir, Facts: p.facts(done)}
	if page := filepath.Join(p.dir, folder.Page); isFile(page) { // it may not have been written, on a full disk
		about.Page = page
	}
	return report.Terminal(out, ran.Report, about, style)
}

// facts returns lines about the course of the run, which do not depend on its verdicts.
func (p *plannedRun) facts(result folder.Recorded) []string {
	facts := []string{fmt.Sprintf("%s, %.0f a second; faults that struck: %d, that found no target: %d; the run ended %s after its duration",
		words.Count(result.Cycles, "cycle"), float64(result.Cycles)/max(result.Chaos, time.Millisecond).Seconds(),
		result.Nemesis.Struck, len(result.Nemesis.Skipped), report.Seconds(max(0, result.Took-p.cmd.Duration)))}
	if edges := result.Nemesis.Edges(); edges != "" {
		facts = append(facts, edges)
	}
	facts = append(facts, fmt.Sprintf("events on record: %d of %d; zkverify took %d MB at most", result.Written, result.Events, peakMemory()>>20))
	if l := result.Lateness; l.Lines > 0 {
		facts = append(facts, fmt.Sprintf("%s of %s, under way for %s at p99 and %s at most; the longest silence of one took %s", words.Count(l.Lines, "line"), words.Count(p.cmd.Workers.N, "worker process"), ms(l.P99), ms(l.Worst), ms(l.Silent)))
	}
	return facts
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
