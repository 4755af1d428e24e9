package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/folder"
)

// The files of a run.
const (
	historyFile = folder.History
	verdictFile = folder.Verdict
)

// runCmd drives a target through faults.
type runCmd struct {
	Recipe []string `help:"Recipes to drive, comma-separated, or all that the target offers, see zkverify list recipes; default mutex, or what a mutant is a mutant of." placeholder:"NAME"`
	Target string   `default:"recipes" help:"The implementation to test; see zkverify list targets." placeholder:"NAME"`

	Servers serversFlags `embed:""`

	Duration        time.Duration `default:"60s" help:"How long faults come and go."`
	Clients         *int          `help:"Clients, each with a session of its own; default 10, or two for each recipe if that is more."`
	Locks           *int          `help:"Locks of each recipe that they contend for; default 5, or 1 if several recipes are driven."`
	Faults          []string      `default:"all" help:"Faults, comma-separated, or all or none; see zkverify list faults." placeholder:"NAME"`
	Schedule        string        `help:"Carry out the faults of this YAML file; default drawn ones. See zkverify schedule." placeholder:"FILE"`
	RequireCoverage bool          `help:"Exit with 2 unless each fault has met each recipe in each state; see docs/faults.md."`
	Seed            *int64        `help:"Seed of the schedule and of the clients' choices; default drawn, and printed."`
	Out             string        `help:"Folder of the run, made if need be; default runs/<time>-<target>." placeholder:"DIR"`
	JSON            bool          `name:"json" help:"Print the verdict as JSON, and what is going on as JSON lines on stderr."`
	Quiet           bool          `short:"q" help:"Print nothing, unless not every guarantee holds."`
	Verbose         bool          `short:"v" help:"Print figures, coverage and all violations on record too. They are always in verdict.json and report.html."`

	Workers workerFlags `embed:"" group:"Where clients live:"`

	Mix mixFlags `embed:"" group:"What clients do:"`

	Engines engineFlags `embed:"" prefix:"judge-" group:"How it is judged:"`

	again *again // what is run again; nil for a run of its own
}

func (runCmd) Help() string {
	return withExamples("Leaves a folder with the history, the verdict, a report to look at (report.html), JUnit XML and the servers' logs.",
		"zkverify run --target zk-lock --duration 30s",
		"zkverify run --recipe all",
		"zkverify run --schedule faults.yaml")
}

// mixFlags are workload.Mix on the command line.
type mixFlags struct {
	Hold     time.Duration `default:"2ms" help:"Mean time that a lock is held."`
	Patience time.Duration `default:"100ms" help:"Longest timeout, or time to a cancellation, of an acquire."`
	Try      float64       `default:"0.15" help:"Share of acquires that only try."`
	Timeout  float64       `default:"0.25" help:"Share of acquires with a timeout."`
	Cancel   float64       `default:"0.1" help:"Share of acquires cancelled in mid-wait."`
	Reenter  float64       `default:"0.1" help:"Share of holds that re-enter."`
	Long     float64       `default:"0.0005" help:"Share of holds as long as a session timeout."`
	HoldOn   float64       `default:"0.7" help:"Share of holds that go on for long when a fault hits them."`
	Crash    float64       `default:"0.0007" help:"Share of holds that end in a crash."`
	Race     float64       `default:"0.2" help:"Share of increments that pause in the middle."`
	Guarded  float64       `default:"0.1" help:"Share of holds that write to ZooKeeper too, in a transaction with a look at the lock."`
}

func (m mixFlags) mix() workload.Mix {
	share := func(x float64) float64 {
		if x == 0 {
			return -1 // the zero value means the default there
		}
		return x
	}
	return workload.Mix{
		Try: share(m.Try), Timeout: share(m.Timeout), Cancel: share(m.Cancel), Patience: m.Patience,
		Hold: m.Hold, Long: share(m.Long), HoldOn: share(m.HoldOn),
		Reenter: share(m.Reenter), Crash: share(m.Crash), Race: share(m.Race), Guarded: share(m.Guarded),
	}
}

// Validate is called by kong.
func (r *runCmd) Validate() error {
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"duration", r.Duration}, {"hold", r.Mix.Hold}, {"patience", r.Mix.Patience}} {
		if d.value <= 0 {
			return fmt.Errorf("--%s must be positive, not %v", d.flag, d.value)
		}
	}
	if r.Clients != nil && *r.Clients < 1 {
		return fmt.Errorf("--clients must be at least 1, not %d", *r.Clients)
	}
	if r.Locks != nil && *r.Locks < 1 {
		return fmt.Errorf("--locks must be at least 1, not %d", *r.Locks)
	}
	if err := r.Workers.validate(); err != nil {
		return err
	}
	if r.Schedule != "" && !slices.Equal(r.Faults, []string{"all"}) {
		return errors.New("--faults says what to draw, --schedule that nothing is drawn: give one of them")
	}
	m := r.Mix
	for _, s := range []struct {
		flag  string
		value float64
	}{{"try", m.Try}, {"timeout", m.Timeout}, {"cancel", m.Cancel}, {"try, --timeout and --cancel together", m.Try + m.Timeout + m.Cancel},
		{"reenter", m.Reenter}, {"long", m.Long}, {"hold-on", m.HoldOn}, {"crash", m.Crash}, {"race", m.Race}, {"guarded", m.Guarded}} {
		if s.value < 0 || s.value > 1+1e-9 {
			return fmt.Errorf("--%s must lie between 0 and 1, not at %v", s.flag, s.value)
		}
	}
	return r.Servers.validate()
}

// target returns the target and the recipes of it that the flags name.
func (r *runCmd) target(ctx context.Context) (workload.Target, []histories.Recipe, error) {
	target, err := r.Workers.described(ctx, r.Servers.settings())
	if err != nil {
		return nil, nil, err
	}
	if target == nil {
		if target, err = workload.TargetNamed(r.Target); err != nil {
			return nil, nil, usageError{err}
		}
	}
	recipes, err := workload.SelectRecipes(target, r.Recipe)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return target, recipes, nil
}

// clients is how many there are.
func (r *runCmd) clients(recipes []histories.Recipe) int {
	if r.Clients != nil {
		return *r.Clients
	}
	return workload.DefaultClients(recipes)
}

func (r *runCmd) Run(ctx context.Context, con *console) error {
	schedule, err := r.schedule()
	if err != nil {
		return err
	}
	_, err = r.drive(ctx, con, schedule)
	return err
}

// schedule reads that of --schedule, nil if there is none.
func (r *runCmd) schedule() (*nemesis.Schedule, error) {
	if r.Schedule == "" {
		return nil, nil
	}
	f, err := os.Open(r.Schedule)
	if err != nil {
		return nil, usage("--schedule: %w", err)
	}
	defer f.Close()
	s, err := nemesis.ReadYAML(f)
	if err != nil {
		return nil, usage("--schedule: %s: %w", r.Schedule, err)
	}
	return &s, nil
}

// judged is a run that took place, and its report.
type judged struct {
	header histories.Header
	*checker.Report
}

// drive carries the run out and judges it. A nil schedule is drawn. The report is
// nil when there is nothing to judge; the error is as that of Run.
func (r *runCmd) drive(ctx context.Context, con *console, schedule *nemesis.Schedule) (_ *judged, err error) {
	out, style := con.out, con.style(r.Verbose)
	con = con.as(r.JSON, r.Quiet)
	target, recipes, err := r.target(ctx)
	if err != nil {
		return nil, err
	}
	clients := r.clients(recipes)
	if r.Workers.N > clients {
		return nil, usage("--workers is %d, more than there are clients (%d)", r.Workers.N, clients)
	}
	if schedule != nil {
		if r.Faults = schedule.Names(); len(r.Faults) == 0 {
			r.Faults = []string{"none"}
		}
		if err := schedule.Fits(nil, clients, r.Duration); err != nil {
			return nil, usageError{err}
		}
	}
	if _, err := faults.Select(r.Faults, nil, r.Workers.N > 0); err != nil {
		return nil, usageError{err}
	}
	seed := rand.Int64N(1e9) // short enough to type
	if r.Seed != nil {
		seed = *r.Seed
	}
	started := time.Now()
	dir, err := makeFolder(r.Out, started, target.Name())
	if err != nil {
		return nil, err
	}
	con.say("zkverify %s: %s, seed %d, in %s", versionText(), driven(target, recipes), seed, dir)

	if seed%2 != 0 { // one run in two: neither sort of session is the exception
		r.Servers.negativeSessions()
	}
	env, err := r.Servers.open(ctx, con, dir, runID(started, seed))
	if err != nil {
		os.Remove(dir) // if nothing is in it, not even the log of a server that died
		return nil, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	kinds, err := faults.Select(r.Faults, env.ensemble, r.Workers.N > 0)
	if err == nil && schedule != nil {
		err = schedule.Fits(env.ensemble, clients, r.Duration)
	}
	if err != nil {
		return nil, usageError{err}
	}
	con.say("faults: %s", kindNames(kinds))

	cfg := workload.Config{
		Ensemble: env.ensemble, Network: env.network, Auth: env.auth, Target: target, Recipes: recipes,
		Seed: seed, Clients: clients, Duration: r.Duration,
		SessionTimeout: r.Servers.SessionTimeout, Mix: r.Mix.mix(), Faults: r.Faults, Schedule: schedule,
	}
	r.again.amend(&cfg)
	if r.Locks != nil {
		cfg.Locks = *r.Locks
	}
	if cfg.Workers, err = r.Workers.workers(dir); err != nil {
		return nil, err
	}
	bar := newProgress(con)
	cfg.Progress = bar.update
	result, runErr := folder.Record(ctx, dir, cfg, started, r.options(recipes))
	bar.done()
	if result.History == "" {
		return nil, usageError{runErr}
	}
	for _, w := range result.Warnings {
		con.say("warning: %s", w)
	}
	switch {
	case ctx.Err() != nil:
		con.say("interrupted: judging what there is")
	case runErr != nil:
		con.say("the run failed, judging what there is: %v", runErr)
	}

	// Judging goes on after an interrupt; a second one ends the program.
	header, verdict, err := r.Engines.judge(context.WithoutCancel(ctx), con, result.History)
	if err != nil {
		return nil, errors.Join(runErr, err)
	}
	if r.RequireCoverage {
		verdict.RequireCoverage(kindList(kinds))
	}
	runErr = errors.Join(runErr, folder.Write(dir, header, verdict, result.Took))
	if runErr != nil && verdict.Outcome() == checker.Violated {
		con.say("zkverify: %v", runErr)
		runErr = nil // a violation is what the exit status tells
	}
	switch {
	case r.JSON:
		runErr = errors.Join(runErr, report.JSON(out, verdict))
	case !r.Quiet || verdict.Outcome() != checker.Holds:
		about := report.Run{Header: header, Path: dir, Page: filepath.Join(dir, reportFile), Facts: r.facts(result)}
		runErr = errors.Join(runErr, report.Terminal(out, verdict, about, style))
	}
	ran := &judged{header, verdict}
	switch {
	case runErr != nil:
		return ran, runErr
	case result.Interrupted && verdict.Outcome() != checker.Violated:
		return ran, outcome(checker.Unknown)
	}
	return ran, outcome(verdict.Outcome())
}

// facts tell how the run went, whatever its verdicts are.
func (r *runCmd) facts(result folder.Recorded) []string {
	facts := []string{fmt.Sprintf("%s, %.0f a second; faults that struck: %d, that found nobody: %d; the run ended %s after its duration",
		words.Count(result.Cycles, "cycle"), float64(result.Cycles)/max(result.Chaos, time.Millisecond).Seconds(),
		result.Nemesis.Struck, len(result.Nemesis.Skipped), report.Seconds(max(0, result.Took-r.Duration)))}
	if edges := result.Nemesis.Edges(); edges != "" {
		facts = append(facts, edges)
	}
	facts = append(facts, fmt.Sprintf("events on record: %d of %d; zkverify took %d MB at most", result.Written, result.Events, peakMemory()>>20))
	if l := result.Lateness; l.Lines > 0 {
		facts = append(facts, fmt.Sprintf("%s of %s, under way for %s at p99 and %s at most", words.Count(l.Lines, "line"), words.Count(r.Workers.N, "worker process"), ms(l.P99), ms(l.Worst)))
	}
	return facts
}

// makeFolder makes the folder of a run.
func makeFolder(named string, started time.Time, target string) (string, error) {
	dir := named
	if dir == "" {
		dir = filepath.Join("runs", started.Format("20060102-150405")+"-"+target)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", usage("--out: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, historyFile)); err == nil {
		return "", usage("--out: %s already holds a run: choose another --out, or remove it", dir)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return "", usage("--out: nothing can be written to %s, choose another folder: %w", dir, err)
	}
	return dir, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func runID(started time.Time, seed int64) string {
	return started.UTC().Format("20060102T150405") + "-" + strconv.FormatUint(uint64(seed), 36)
}

// options is the command line, for the history's header.
func (r *runCmd) options(recipes []histories.Recipe) map[string]string {
	m := r.Mix
	share := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	o := map[string]string{
		"recipe": names(recipes), "target": r.Target,
		"duration": r.Duration.String(), "clients": strconv.Itoa(r.clients(recipes)),
		"faults": strings.Join(r.Faults, ","),
		"hold":   m.Hold.String(), "patience": m.Patience.String(),
		"try": share(m.Try), "timeout": share(m.Timeout), "cancel": share(m.Cancel), "reenter": share(m.Reenter),
		"long": share(m.Long), "hold-on": share(m.HoldOn), "crash": share(m.Crash), "race": share(m.Race), "guarded": share(m.Guarded),
	}
	if r.Locks != nil {
		o["locks"] = strconv.Itoa(*r.Locks)
	}
	r.Workers.options(o)
	r.Servers.options(o)
	return o
}

// driven says what a run drives. With one recipe, the target's name is enough.
func driven(target workload.Target, recipes []histories.Recipe) string {
	if len(recipes) == 1 && recipes[0] == histories.Mutex {
		return target.Name()
	}
	return target.Name() + ": " + names(recipes)
}

func names(recipes []histories.Recipe) string {
	var all []string
	for _, r := range recipes {
		all = append(all, string(r))
	}
	return strings.Join(all, ",")
}

func kindNames(kinds []fault.Kind) string {
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kindList(kinds), ", ")
}

func kindList(kinds []fault.Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
