package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/spec"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/simulation"
)

// simCmd makes runs in virtual time.
type simCmd struct {
	Seeds *int   `help:"How many runs, with the seeds from --from on; default 100, or with --for as many as that time allows." placeholder:"N"`
	From  *int64 `help:"The first seed; default drawn, and printed." placeholder:"SEED"`
	Plan  string `default:"random" help:"What happens in a run: random, swarm, island, edges, spec, orders, lease, explore, or all, with edges in every other run; see docs/simulation.md." placeholder:"NAME"`

	Recipe []string `help:"Recipes to drive, comma-separated, or all that the target offers, see zkverify list recipes; default mutex, or what a mutant is a mutant of." placeholder:"NAME"`
	Target string   `default:"recipes" help:"The implementation to test; see zkverify list targets." placeholder:"NAME"`

	Duration       time.Duration `default:"60s" help:"How long faults come and go, in virtual time."`
	SessionTimeout time.Duration `default:"2s" help:"Session timeout of the clients."`
	Clients        int           `help:"Clients, each with a session of its own; default as the plan says."`
	Locks          int           `help:"Locks of each recipe that they contend for; default as the plan says."`
	Faults         []string      `default:"all" help:"Faults, comma-separated, or all or none; see zkverify list faults." placeholder:"NAME"`
	Schedule       string        `help:"Carry out the faults of this YAML file; default as the plan says. See zkverify schedule." placeholder:"FILE"`
	ZooKeeper      string        `name:"zookeeper" help:"Version of ZooKeeper to simulate: 3.8.0 or 3.9.6; default the first." placeholder:"VERSION"`

	Jobs            int           `help:"How many runs at a time, each in a process of its own; default one for each processor."`
	For             time.Duration `help:"Begin no run after this time; default when all are made."`
	StopAtViolation bool          `help:"End with the first run in which a guarantee is violated."`
	Out             string        `help:"Folder for results.jsonl, coverage.json and the runs that do not pass, made if need be; a sweep that was begun there continues. Default runs/<time>-sim." placeholder:"DIR"`
	Model           string        `name:"validate" enum:"auto,all,none" default:"auto" help:"Of which runs the model of the mutex, spec/mutex.pml, is asked whether it can do what they have done: all, none, or auto, one in four of a sweep of 50 or more of target recipes, if spin and a C compiler are installed." placeholder:"WHICH"`
	JSON            bool          `name:"json" help:"Print a line of JSON for each run on stdout."`

	Verbose bool `short:"v" help:"Print the table of which states the faults have met, for each plan, and how often each situation occurred; default off. Both are always in coverage.json."`

	OtherVersion bool `help:"Go on in a folder with runs that another version of zkverify, or of Go, has made."`

	Until time.Duration `help:"End each run at this time after its faults began, to look at what came before; default when it is over." placeholder:"TIME"`
	Trace bool          `help:"Write every message between clients and servers to trace.txt in the run's folder. Of one run alone."`
}

func (simCmd) Help() string {
	return words.WithExamples("Drives the locks as they are shipped, on servers that are simulated in the same process, in virtual time, and judges each run as a real one. A run is decided by its seed: a run that violates a guarantee is made again twice, then with fewer and fewer faults as long as it still does, and, on a seeded runtime, resumed from its messages on with other choices, which tells the choice that decided; the command that makes it again is printed. Without a seeded Go runtime (make build-sim) the same seed makes nearly the same run, not exactly. The model of the mutex, spec/mutex.pml, has to be able to do what the runs of --validate have done (docs/spec.md). The exit status is 1 if a run violates a guarantee, 0 if all runs were made, none violates one and at least one put every guarantee to the test, else 2.",
		"zkverify sim --seeds 1000 --recipe all --plan all",
		"zkverify sim --for 8h --recipe all --plan all",
		"zkverify sim --from 4711 --seeds 1 --trace --until 12s")
}

// Validate is called by kong.
func (s *simCmd) Validate() error {
	for name, d := range map[string]time.Duration{"duration": s.Duration, "session-timeout": s.SessionTimeout} {
		if d <= 0 {
			return fmt.Errorf("--%s must be positive, not %v", name, d)
		}
	}
	var servers ensemble.LocalConfig
	if err := servers.SetDefaults(); err != nil {
		return err
	}
	switch {
	case s.SessionTimeout < 2*servers.TickTime:
		return fmt.Errorf("--session-timeout must be at least two ticks (%v), not %v", 2*servers.TickTime, s.SessionTimeout)
	case s.Seeds != nil && *s.Seeds < 1:
		return fmt.Errorf("--seeds must be at least 1, not %d", *s.Seeds)
	case s.Jobs < 0 || s.Clients < 0 || s.Locks < 0:
		return errors.New("--jobs, --clients and --locks must not be negative")
	case s.For < 0 || s.Until < 0:
		return errors.New("--for and --until must be positive")
	case s.Trace && s.asked() != 1:
		return fmt.Errorf("--trace is of one run: give --seeds 1, and the seed with --from")
	case s.ZooKeeper != "" && !slices.Contains(simulated.Versions(), s.ZooKeeper):
		return fmt.Errorf("--zookeeper is %q: %s can be simulated", s.ZooKeeper, strings.Join(simulated.Versions(), " and "))
	}
	if s.Plan == "all" {
		return nil
	}
	_, err := simulation.PlanNamed(s.Plan)
	return err
}

// asked returns the number of runs that the flags ask for, 0 for as many as there is time for.
func (s *simCmd) asked() int {
	switch {
	case s.Seeds != nil:
		return *s.Seeds
	case s.For > 0:
		return 0
	}
	return 100
}

// turns returns the plans of the runs, in their turns. Every other one is edges, which has the most to
// go through.
func (s *simCmd) turns() (turns []string) {
	all := s.plans()
	if len(all) == 1 {
		return all
	}
	for _, plan := range all {
		if plan != simulation.Edges {
			turns = append(turns, plan, simulation.Edges)
		}
	}
	return turns
}

// plans returns the plans of the runs.
func (s *simCmd) plans() (names []string) {
	if s.Plan != "all" {
		return []string{s.Plan}
	}
	for _, p := range simulation.Plans() {
		names = append(names, p.Name)
	}
	return names
}

func (s *simCmd) Run(ctx context.Context, con *console) error {
	fleet, err := s.fleet()
	if err != nil {
		return err
	}
	spec, err := s.spec(fleet)
	if err != nil {
		return err
	}
	first := nemesis.DrawSeed()
	if s.From != nil {
		first = *s.From
	}
	started := time.Now()
	dir, err := makeFolder(s.Out, started, "sim")
	if err != nil {
		return err
	}
	sweep, err := simulation.OpenSweep(filepath.Join(dir, simulation.ResultsFile), fleet.Made, s.OtherVersion)
	if err != nil {
		return usage("--out: %w%s", err, otherVersionHint(err))
	}
	seeds := fmt.Sprintf("seeds from %d on", first)
	if n := s.asked(); n > 0 {
		seeds = fmt.Sprintf("seeds %d to %d", first, first+int64(n)-1)
	}
	con.say("zkverify %s: %s in virtual time, %s, plan %s, %s at a time, in %s", versionText(), s.Target, seeds,
		strings.Join(s.plans(), ", "), words.Count(fleet.Jobs, "run"), dir)
	spec.Seed = first
	runErr := s.makeRuns(ctx, con, fleet, dir, sweep, spec)
	if err := errors.Join(runErr, sweep.Close()); err != nil {
		return err
	}
	for _, o := range sweep.ToExplain() {
		if ctx.Err() != nil || s.Until > 0 {
			break
		}
		if err := s.confirm(ctx, con, fleet, dir, o); err != nil {
			return err
		}
	}
	if err := s.tellCoverage(con, dir, sweep, spec); err != nil {
		return err
	}
	if !s.JSON {
		con.tellLines(sweep.Summary(s.asked(), time.Since(started)))
	}
	o := sweep.Outcome(s.asked())
	if ctx.Err() != nil && o != verdict.Violated {
		o = verdict.Unknown // the sweep was interrupted before it was over
	}
	return outcome(o)
}

// makeRuns makes the runs that are left, from the first spec on, and adds their outcomes to the
// sweep.
func (s *simCmd) makeRuns(ctx context.Context, con *console, fleet simulation.Fleet, dir string, sweep *simulation.Sweep, spec simulation.Spec) error {
	asked := s.asked()
	bar := newCountBar(con, asked, "%d of %d runs")
	stands := func() {
		bar.update(sweep.Made(), func() string {
			made := words.Count(sweep.Made(), "run")
			if asked > 0 {
				made = fmt.Sprintf("%d of %s", sweep.Made(), words.Count(asked, "run"))
			}
			return fmt.Sprintf("%s made, %d violated", made, sweep.Violated())
		})
	}
	plans := s.turns()
	err := fleet.All(ctx, s.For, dir, func(yield func(simulation.Spec) bool) {
		for i := 0; (asked == 0 || i < asked) && !(s.StopAtViolation && sweep.Violated() > 0); i++ {
			next := spec
			next.Seed, next.Plan = spec.Seed+int64(i), plans[i%len(plans)]
			if sweep.Has(next) {
				stands()
			} else if !yield(sweep.Explore(next)) {
				return
			}
		}
	}, func(o simulation.Outcome, kept string) error {
		if err := sweep.Add(o); err != nil {
			return err
		}
		stands()
		if s.JSON {
			_ = json.NewEncoder(con.out).Encode(o)
		}
		if !o.Passed() {
			con.say("seed %d, plan %s: %s", o.Spec.Seed, o.Spec.Plan, simSentence(o, kept))
		}
		return nil
	})
	bar.done()
	return err
}

// spec returns the settings that all runs of a fleet share.
func (s *simCmd) spec(f simulation.Fleet) (simulation.Spec, error) {
	var err error
	spec := simulation.Spec{
		Target: s.Target, Recipes: s.Recipe, ZooKeeper: s.ZooKeeper, Duration: s.Duration, SessionTimeout: s.SessionTimeout,
		Clients: s.Clients, Locks: s.Locks, Faults: s.Faults, Processes: f.Seeded,
	}
	if spec.Schedule, err = readSchedule(s.Schedule, simulation.Kinds()); err != nil {
		return spec, err
	}
	for _, plan := range s.plans() {
		spec.Plan = plan
		if err := spec.Check(); err != nil {
			return spec, usageError{err}
		}
	}
	return spec, nil
}

// seededSuffix ends the name of the program beside this one that is the same but for a seeded Go
// runtime: zkverify-sim, zkverify-mutants-sim.
const seededSuffix = "-sim"

// fleet returns the fleet that makes the runs, in processes of the program of virtualTime.
func (s *simCmd) fleet() (simulation.Fleet, error) {
	program, jobs, err := virtualTime(simRun, s.Jobs)
	if err != nil {
		return simulation.Fleet{}, err
	}
	f := simulation.Fleet{Subprocess: program, Jobs: jobs, Look: simulation.Look{Until: s.Until, Trace: s.Trace}, Made: madeBy(program)}
	f.Validator, f.OneInFour, err = s.validator()
	return f, err
}

// wholeSweep is the number of runs from which on the time to compile the model is worth it, unasked.
const wholeSweep = 50

// validator returns what --validate asks for: nil for no validation.
func (s *simCmd) validator() (v *spec.Validator, oneInFour bool, err error) {
	auto := s.Model == "auto"
	many := s.asked() == 0 || s.asked() >= wholeSweep
	if s.Model == "none" || auto && (s.Target != "recipes" || !many) {
		return nil, false, nil
	}
	v, err = spec.NewValidator()
	switch {
	case auto && err != nil:
		return nil, false, nil // they are not installed
	case err != nil:
		return nil, false, usage("--validate: %w", err)
	}
	return v, auto, nil
}

// madeBy describes the program that makes runs. Programs with the same description make the same
// run of a seed.
func madeBy(p campaign.Subprocess) string {
	text := fmt.Sprintf("zkverify %s, %s, %s/%s", p.Version, goOf(p.Command[0]), runtime.GOOS, runtime.GOARCH)
	if p.Seeded {
		return text + ", seeded runtime"
	}
	return text + ", stock runtime"
}

// goOf returns the version of Go that a program was built with.
func goOf(program string) string {
	if info, err := buildinfo.ReadFile(program); err == nil {
		return info.GoVersion
	}
	return runtime.Version()
}

// otherVersionHint returns the advice for ErrOtherProgram, "" for other errors.
func otherVersionHint(err error) string {
	if errors.Is(err, simulation.ErrOtherProgram) {
		return "; choose another folder, or --other-version"
	}
	return ""
}

// virtualTime returns the program that carries out a hidden command in virtual time: the seeded
// program beside this one if there is one, else this one. jobs is the number of its processes at
// a time: the number asked for, or one for each processor if that is 0.
func virtualTime(command string, asked int) (p campaign.Subprocess, jobs int, err error) {
	program, err := os.Executable()
	if err != nil {
		return p, 0, err
	}
	isSeeded := seeded.Exact()
	if other := program + seededSuffix; !isSeeded && isFile(other) {
		if err := sameVersion(other); err != nil {
			return p, 0, err
		}
		program, isSeeded = other, true
	}
	jobs = cmp.Or(asked, runtime.NumCPU())
	return campaign.Subprocess{Command: []string{program, command}, Version: versionText(), Seeded: isSeeded}, jobs, nil
}

// sameVersion returns an error unless a program is of this program's version.
func sameVersion(program string) error {
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	if v := strings.TrimSpace(string(out)); v != versionText() {
		return usage("%s is of version %s, and this zkverify of version %s: build both again (make build build-sim build-mutants), or remove the first", program, v, versionText())
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// simSentence describes the outcome of a run that did not pass.
func simSentence(o simulation.Outcome, kept string) string {
	switch {
	case o.Trouble != "":
		return fmt.Sprintf("the run failed: %s (%s)", o.Trouble, kept)
	case o.Outcome == verdict.Violated:
		return fmt.Sprintf("VIOLATED: %s (%s)", strings.Join(o.Violated, ", "), filepath.Join(kept, folder.Page))
	case o.Differs():
		return fmt.Sprintf("DIFFERS from spec/mutex.pml: %s (%s)", o.Model.Differs[0], filepath.Join(kept, spec.RecordFile))
	}
	return fmt.Sprintf("%s: %s (%s)", o.Outcome, o.Reason, kept)
}

// simRun is the internal command that makes one run.
const simRun = "sim-run"

// simRunCmd makes one run, in a process of its own.
type simRunCmd struct{}

func (simRunCmd) Run() error {
	simulation.Host(versionText(), os.Stdin, os.Stdout)
	return nil
}
