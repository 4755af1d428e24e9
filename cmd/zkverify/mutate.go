package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/overlay"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/mutate"
	"github.com/zkverify/zkverify/workload/mutate/trial"
	"github.com/zkverify/zkverify/workload/simulation"
)

// mutantsFile is the file with a line for each tried mutant, written as soon as it was tried.
const mutantsFile = "mutants.jsonl"

// mutateCmd tries mutants of recipes that operators generate.
type mutateCmd struct {
	List     bool     `help:"Print the mutants, and run none."`
	Keys     bool     `help:"With --list, print what a mutant is known by when lines and numbers change."`
	Filter   string   `help:"Mutants whose line of --list matches this regular expression alone; default all." placeholder:"REGEX"`
	Operator []string `help:"Mutants of these operators alone, comma-separated; default all. See docs/mutation.md." placeholder:"NAME"`
	Sample   int      `help:"That many of them, drawn by --seed; default all." placeholder:"N"`

	Seeds    int           `default:"5" help:"Runs of all recipes in which a mutant can be killed, with the seeds from --seed on."`
	Alone    int           `default:"6" help:"Runs of each recipe alone, which come first, with the seeds from --seed on; 0 for none."`
	Seed     int64         `default:"1" help:"The first seed."`
	Tests    bool          `help:"Run the recipes' own tests, too, with each mutant that no run kills: a minute for each."`
	Race     bool          `help:"Run the tests that a mutant survives again with the race detector, which takes cgo: two minutes for each."`
	Duration time.Duration `default:"20s" help:"How long faults come and go in a run, in virtual time."`
	Jobs     int           `help:"How many runs at a time, each in a process of its own; default one for each processor."`
	Source   string        `default:"." help:"A folder of zkverify's source." placeholder:"DIR"`
	Out      string        `help:"Folder for mutants.jsonl and for the program with the mutants, made if need be; what was begun there continues. Default runs/<time>-mutate." placeholder:"DIR"`
}

func (mutateCmd) Help() string {
	return words.WithExamples("At every place of the recipes' code where an operator applies, the code is changed as the operator says: a condition is negated, a statement is left out, a constant is another one, and so on. One program has all these mutants, one of which is on in a run in virtual time. A mutant is killed when a guarantee is violated, when the program panics, or when runs end without a verdict twice. Those that survive show what runs do not see. With --tests those go on to the recipes' own tests, one test after the other, until one fails twice, and with --race once more with the race detector. It needs the Go toolchain and zkverify's source. The exit status is 0 if every mutant that was tried was killed, 1 if not, 2 if it was interrupted.",
		"zkverify mutate --list --operator drop",
		"zkverify mutate --filter hold.go --seeds 5",
		"zkverify mutate --sample 100 --out sample")
}

// Validate is called by kong.
func (m *mutateCmd) Validate() error {
	switch {
	case m.Seeds < 1:
		return fmt.Errorf("--seeds must be at least 1, not %d", m.Seeds)
	case m.Sample < 0 || m.Jobs < 0 || m.Alone < 0:
		return errors.New("--sample, --jobs and --alone must not be negative")
	case m.Duration <= 0:
		return fmt.Errorf("--duration must be positive, not %v", m.Duration)
	case m.Race && !m.Tests:
		return errors.New("--race goes with --tests")
	case m.Keys && !m.List:
		return errors.New("--keys goes with --list")
	}
	if _, err := regexp.Compile(m.Filter); err != nil {
		return fmt.Errorf("--filter: %w", err)
	}
	var known []string
	for _, op := range mutate.Operators() {
		known = append(known, string(op))
	}
	for _, name := range m.Operator {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--operator: %w", words.Unknown("operator", name, known, words.Known(known)))
		}
	}
	return nil
}

func (m *mutateCmd) Run(ctx context.Context, con *console) error {
	program, err := mutate.Load(ctx, m.Source)
	switch {
	case errors.Is(err, mutate.ErrNoSource):
		return unavailable{fmt.Errorf("%w: name its folder by --source", err)}
	case errors.Is(err, mutate.ErrNoGo):
		return unavailable{err}
	case err != nil:
		return err
	}
	chosen, equivalent, err := m.choose(program.Mutants)
	if err != nil {
		return err
	}
	if m.List {
		m.list(con, chosen)
		con.say("%s, and %d more that do what the code does; %d do not compile", words.Count(len(chosen), "mutant"), equivalent, len(program.Rejected))
		return nil
	}
	if len(chosen) == 0 {
		return usage("no mutant is chosen: zkverify mutate --list shows all")
	}
	return m.try(ctx, con, program, chosen, equivalent)
}

// choose returns the mutants that the flags name, without the equivalent ones, and the number of
// these.
func (m *mutateCmd) choose(all []mutate.Mutant) (chosen []mutate.Mutant, equivalent int, err error) {
	reasons, err := mutate.Equivalent()
	if err != nil {
		return nil, 0, err
	}
	filter := regexp.MustCompile(m.Filter)
	for _, x := range all {
		switch {
		case !filter.MatchString(x.String()) || len(m.Operator) > 0 && !slices.Contains(m.Operator, string(x.Operator)):
		case reasons.Of(x) != "":
			equivalent++
		default:
			chosen = append(chosen, x)
		}
	}
	if m.Sample > 0 && m.Sample < len(chosen) {
		random := rand.New(rand.NewPCG(uint64(m.Seed), 0))
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:m.Sample]
		slices.SortFunc(chosen, func(a, b mutate.Mutant) int { return a.Number - b.Number })
	}
	return chosen, equivalent, nil
}

// list prints the chosen mutants.
func (m *mutateCmd) list(con *console, chosen []mutate.Mutant) {
	for _, x := range chosen {
		if m.Keys {
			fmt.Fprintln(con.out, x.Key())
		} else {
			fmt.Fprintln(con.out, x)
		}
	}
}

// try makes runs with mutants, and prints which were killed.
func (m *mutateCmd) try(ctx context.Context, con *console, program *mutate.Program, chosen []mutate.Mutant, equivalent int) (err error) {
	dir, err := makeFolder(m.Out, time.Now(), "mutate")
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil { // runs have working folders of their own
		return err
	}
	con.say("zkverify %s: building %s into one program, in %s", versionText(), words.Count(len(program.Mutants), "mutant"), dir)
	seeded := true
	file, err := program.Build(ctx, dir, "./cmd/zkverify", seeded)
	if errors.Is(err, overlay.ErrNoSeededRuntime) {
		con.say("%v", err)
		con.say("runs are made on the standard one, without faults of processes")
		seeded = false
		file, err = program.Build(ctx, dir, "./cmd/zkverify", seeded)
	}
	if err != nil {
		return err
	}
	stages, programs, err := m.stages(ctx, con, program, dir, file, seeded)
	if err != nil {
		return err
	}
	results, err := m.results(dir, stages, programs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, results.Close()) }()
	scratch, err := os.MkdirTemp(dir, "scratch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	con.say("%s, up to %s for each, %s at a time; first without a mutant", words.Count(len(chosen), "mutant"), words.Count(len(stages[0].Settings), "run"), words.Count(stages[0].Jobs, "run"))
	bar := newCountBar(con, len(chosen), "%d of %d mutants")
	stands := func() {
		all, _ := results.Of(chosen)
		bar.update(len(all), func() string {
			killed := 0
			for _, r := range all {
				if r.Status == trial.Killed {
					killed++
				}
			}
			return fmt.Sprintf("%d of %d mutants tried, %d killed", len(all), len(chosen), killed)
		})
	}
	stands()
	tried := slices.Clone(chosen)
	rand.New(rand.NewPCG(uint64(m.Seed), 1)).Shuffle(len(tried), func(i, j int) { tried[i], tried[j] = tried[j], tried[i] }) // so that an interrupted half of them is a sample
	runErr := trial.Try(ctx, trial.Config{
		Program: file, Mutants: tried, Stages: stages, Results: results, Scratch: scratch, Ended: func(trial.Result) { stands() },
	})
	bar.done()
	if runErr != nil && ctx.Err() == nil {
		return runErr
	}
	return tellMutants(con, results, chosen, equivalent, dir)
}

// tellMutants prints which of the mutants were killed, and which survived.
func tellMutants(con *console, results *trial.Results, chosen []mutate.Mutant, equivalent int, dir string) error {
	all, missing := results.Of(chosen)
	text := trial.Summary(all)
	for _, unfit := range results.Unfit() {
		text += "\nleft out, since it fails without a mutant: " + unfit
	}
	if equivalent > 0 {
		text += fmt.Sprintf("\nnot tried: %d that do what the code does", equivalent)
	}
	if missing > 0 {
		text += fmt.Sprintf("\nnot tried yet: %d; zkverify mutate --out %s and the same flags go on", missing, dir)
	}
	con.tellLines(strings.TrimSpace(text))
	con.tell("results: %s", filepath.Join(dir, mutantsFile))
	switch {
	case missing > 0:
		return outcome(verdict.Unknown)
	case slices.ContainsFunc(all, func(r trial.Result) bool { return r.Status != trial.Killed }):
		return outcome(verdict.Violated)
	}
	return nil
}

// stages returns the stages in which each mutant is tried, and the files of the programs that
// they run.
func (m *mutateCmd) stages(ctx context.Context, con *console, program *mutate.Program, dir, file string, seeded bool) (stages []trial.Stage, programs []string, err error) {
	jobs := m.Jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}
	runner, err := m.runner(ctx, file, seeded)
	if err != nil {
		return nil, nil, err
	}
	stages = []trial.Stage{{Name: trial.InRuns, Runner: runner, Settings: m.settings(), Jobs: jobs}}
	programs = []string{file}
	if !m.Tests {
		return stages, programs, nil
	}
	all := []trial.Tests{recipesTests()}
	if m.Race {
		all = append(all, recipesTestsForRaces(program.Dir))
	}
	for _, of := range all {
		name, built := trial.InTests, "the tests of the recipes with them"
		if of.Race {
			name, built = trial.InRaces, "them with the race detector"
		}
		con.say("building %s", built)
		if of.Programs, err = program.BuildTests(ctx, dir, of.Race); err != nil {
			return nil, nil, err
		}
		for _, t := range of.Programs {
			programs = append(programs, t.Program)
		}
		// A test waits most of the time.
		stages = append(stages, trial.Stage{Name: name, Runner: of, Settings: of.Settings(), Jobs: 3 * jobs, ByReach: true, Spares: true})
	}
	return stages, programs, nil
}

// recipesTests returns the settings with which the tests of the recipes run. They are not built
// yet.
func recipesTests() trial.Tests {
	return trial.Tests{Env: []string{"ZKVERIFY_TEST_SERVERS=simulated"}, Patience: patienceWithTest}
}

// recipesTestsForRaces returns the settings with which they run under the race detector.
func recipesTestsForRaces(source string) trial.Tests {
	of, options := recipesTests(), "atexit_sleep_ms=0"
	if others := filepath.Join(source, racesOfOthers); isFile(others) {
		options += " suppressions=" + others
	}
	of.Race, of.Patience, of.Env = true, patienceWithRace, append(of.Env, "GORACE="+options)
	return of
}

// patienceWithTest is the time limit of one test: the longest takes an eighth of it, and half
// of it on a machine that runs three other jobs. With the race detector a test takes several
// times as long.
const (
	patienceWithTest = 2 * time.Minute
	patienceWithRace = 4 * time.Minute
)

// racesOfOthers is the file in the source tree that lists races of libraries, to be ignored.
const racesOfOthers = ".ci/races"

// runner returns the runner of simulated runs with a program that contains the mutants. seeded
// tells whether its Go runtime is.
func (m *mutateCmd) runner(ctx context.Context, program string, seeded bool) (trial.Runner, error) {
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	return trial.VirtualTime{
		Spec:  simulation.Spec{Target: "recipes", Recipes: []string{"all"}, Duration: m.Duration, SessionTimeout: 2 * time.Second, Faults: []string{"all"}, Processes: seeded},
		Plans: m.plans(), Version: strings.TrimSpace(string(version)), Patience: patienceWithRun,
	}, err
}

// settings returns the runs in which a mutant can be killed, in the order in which they are made.
// Runs of one recipe come first: they take a tenth of the time of runs of all, and drive the
// recipe more.
func (m *mutateCmd) settings() (all []trial.Setting) {
	for i := range m.Alone {
		for _, recipe := range histories.Recipes() {
			all = append(all, trial.Setting{Seed: m.Seed + int64(i), Recipe: string(recipe)})
		}
	}
	for i := range m.Seeds {
		all = append(all, trial.Setting{Seed: m.Seed + int64(i)})
	}
	return all
}

// plans returns the plans of the runs, which take turns.
func (m *mutateCmd) plans() (names []string) {
	for _, p := range simulation.Plans() {
		names = append(names, p.Name)
	}
	return names
}

// patienceWithRun is the time limit of a run, in real time: most take a second, and ten times that
// on a busy machine.
const patienceWithRun = 2 * time.Minute

// results opens the file of results.
func (m *mutateCmd) results(dir string, stages []trial.Stage, programs []string) (*trial.Results, error) {
	terms, err := trial.NewTerms(stages, programs...)
	if err != nil {
		return nil, err
	}
	r, err := trial.OpenResults(filepath.Join(dir, mutantsFile), terms)
	if errors.Is(err, trial.ErrOtherTerms) {
		return nil, usage("--out: %s: %w: choose another --out, or remove %s", dir, err, mutantsFile)
	}
	return r, err
}
