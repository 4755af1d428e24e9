package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// runCmd drives a target through faults.
type runCmd struct {
	Recipe []string `help:"Recipes to drive, comma-separated, or all that the target offers, see zkverify list recipes; default mutex, or what a mutant is a mutant of." placeholder:"NAME"`
	Target string   `default:"recipes" help:"The implementation to test; see zkverify list targets." placeholder:"NAME"`

	Servers serversFlags `embed:""`

	Duration        time.Duration `default:"60s" help:"How long faults come and go."`
	Clients         *int          `help:"Clients, each with a session of its own; default 10, or two for each recipe if that is more."`
	Locks           *int          `help:"Locks of each recipe that they contend for; default 5, or 1 if several recipes are driven."`
	Faults          []string      `default:"all" help:"Faults, comma-separated, or all (but failpoint) or none; see zkverify list faults." placeholder:"NAME"`
	Schedule        string        `help:"Carry out the faults of this YAML file; default drawn ones. See zkverify schedule." placeholder:"FILE"`
	RequireCoverage bool          `rare:"" help:"Exit with 2 unless each fault has met each recipe in each state; see docs/faults.md."`
	Seed            *int64        `help:"Seed of the schedule and of the clients' choices; default drawn, and printed."`
	Out             string        `help:"Folder of the run, made if need be; default runs/<time>-<target>." placeholder:"DIR"`
	JSON            bool          `name:"json" help:"Print the verdict as JSON, and what is going on as JSON lines on stderr."`
	Quiet           bool          `short:"q" help:"Print nothing, unless not every guarantee holds."`
	Verbose         bool          `short:"v" help:"Print figures, coverage and all violations on record too. They are always in verdict.json and report.html."`

	Workers workerFlags `embed:"" group:"Where clients live:"`

	Mix mixFlags `embed:"" group:"What clients do:"`

	Engines engineFlags `embed:"" prefix:"judge-" group:"How it is judged:"`

	again *again // the trial of a self-test that is replayed; nil for none
}

func (runCmd) Help() string {
	return words.WithExamples("Leaves a folder with the history, the verdict, a report to look at (report.html), JUnit XML and the servers' logs.",
		"zkverify run --target zk-lock --duration 30s",
		"zkverify run --recipe all",
		"zkverify run --schedule faults.yaml")
}

// Validate is called by kong.
func (r *runCmd) Validate() error {
	if r.Duration <= 0 {
		return fmt.Errorf("--duration must be positive, not %v", r.Duration)
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
	if err := r.Mix.validate(); err != nil {
		return err
	}
	return r.Servers.validate()
}

// target returns the target that the flags name, and its recipes to drive.
func (r *runCmd) target(ctx context.Context) (lock.Target, []histories.Recipe, error) {
	target, err := r.Workers.described(ctx, r.Servers.settings())
	if err != nil {
		return nil, nil, err
	}
	if target == nil {
		if target, err = targets.Named(r.Target); err != nil {
			return nil, nil, usageError{err}
		}
	}
	recipes, err := workload.SelectRecipes(target, r.Recipe)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return target, recipes, nil
}

// clients returns the number of clients.
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

// schedule reads the schedule of --schedule, nil if there is none.
func (r *runCmd) schedule() (*nemesis.Schedule, error) {
	return readSchedule(r.Schedule, faults.List())
}

// readSchedule reads the schedule in a file, nil if path is "".
func readSchedule(path string, kinds fault.Kinds) (*nemesis.Schedule, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("--schedule: %w", err)
	}
	defer f.Close()
	s, err := nemesis.ReadYAML(f, kinds)
	if err != nil {
		return nil, usage("--schedule: %s: %w", path, err)
	}
	return &s, nil
}

// options returns the command line, for the history's header.
func (r *runCmd) options(recipes []histories.Recipe) map[string]string {
	o := map[string]string{
		"recipe": names(recipes), "target": r.Target,
		"duration": r.Duration.String(), "clients": strconv.Itoa(r.clients(recipes)),
		"faults": strings.Join(r.Faults, ","),
	}
	r.Mix.options(o)
	if r.Locks != nil {
		o["locks"] = strconv.Itoa(*r.Locks)
	}
	r.Workers.options(o)
	r.Servers.options(o)
	return o
}

// driven names the target of a run, and its recipes unless the mutex is the only one.
func driven(target lock.Target, recipes []histories.Recipe) string {
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

// again holds the settings of a trial of the self-test for which there are no
// options.
type again struct{ trial workload.Config }

// amend gives cfg the settings of the trial. A nil again changes nothing.
func (a *again) amend(cfg *workload.Config) {
	if a == nil {
		return
	}
	cfg.Mix, cfg.Foreign = a.trial.Mix, a.trial.Foreign
	cfg.Clients, cfg.Locks, cfg.Duration = a.trial.Clients, a.trial.Locks, a.trial.Duration
}
