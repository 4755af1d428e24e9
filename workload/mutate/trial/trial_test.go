package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/workload/mutate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a Runner for which the name of each mutant gives the ends of its runs, one letter a
// run, the last one again and again.
type bench struct {
	mutants []mutate.Mutant
	broken  End            // the end of the first runs without a mutant, "" if they hold
	stopAt  int            // the run that calls stop
	stop    func()         // may be nil
	mu      sync.Mutex     // guards the fields below
	runs    map[string]int // by mutant, "" for none
}

func (b *bench) Name() string { return "bench" }

func (b *bench) Run(ctx context.Context, r Run) (Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := os.Stat(r.Dir); err != nil {
		return Outcome{}, err
	}
	number := r.Env[0]
	if number == mutate.EnvMutant+"=-1" {
		file := strings.TrimPrefix(r.Env[1], mutate.EnvReached+"=")
		b.runs[""]++
		var reached string
		for _, m := range b.mutants {
			if !strings.HasPrefix(m.Before, "u") && !(strings.HasPrefix(m.Before, "2") && r.Seed == 1) {
				reached += fmt.Sprintln(m.Number)
			}
		}
		if b.broken != "" && b.runs[""] <= 1 {
			return Outcome{End: b.broken, Guarantees: []string{"fairness"}}, nil
		}
		return Outcome{End: Held}, os.WriteFile(file, []byte(reached), 0o666)
	}
	at := slices.IndexFunc(b.mutants, func(m mutate.Mutant) bool {
		return number == fmt.Sprintf("%s=%d", mutate.EnvMutant, m.Number)
	})
	does := strings.TrimPrefix(b.mutants[at].Before, "2")
	n := b.runs[b.mutants[at].Before]
	b.runs[b.mutants[at].Before]++
	if b.stopAt--; b.stopAt == 0 && b.stop != nil {
		b.stop()
		return Outcome{}, context.Cause(ctx)
	}
	switch does[min(n, len(does)-1)] {
	case 'v':
		return Outcome{End: Violated, Guarantees: []string{"fairness", "permits"}, Reason: "why"}, nil
	case 'p':
		return Outcome{End: Panicked, Reason: "panic: why"}, nil
	case 'f':
		return Outcome{End: Failed}, nil
	case 'x':
		return Outcome{End: Hung}, nil
	case 'o':
		return Outcome{End: Void}, nil
	}
	return Outcome{End: Held}, nil
}

// mutants returns mutants whose runs end as their names say.
func mutants(does ...string) (all []mutate.Mutant) {
	for i, d := range does {
		all = append(all, mutate.Mutant{Number: i + 1, Package: "recipes", File: "recipes/f.go", Line: i + 1, Func: "f", Operator: mutate.Drop, Before: d, Occurrence: 1})
	}
	return all
}

var terms = Terms{Program: "p", Stages: []StageTerms{{"bench", []Setting{{Seed: 1}, {Seed: 2}}}}}

func open(t *testing.T, path string) *Results {
	t.Helper()
	r, err := OpenResults(path, terms)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func config(t *testing.T, b *bench, r *Results) Config {
	b.runs = map[string]int{}
	return Config{Mutants: b.mutants, Stages: []Stage{{Name: InRuns, Runner: b, Settings: terms.Stages[0].Settings, Jobs: 2}}, Results: r, Scratch: t.TempDir()}
}

func TestWhatKillsAMutant(t *testing.T) {
	for _, c := range []struct {
		name, does string
		status     Status
		by         string
		runs       int
		seed       int64
	}{
		{"a violation does, at once", "v", Killed, "fairness, permits", 1, 1},
		{"a violation with a later seed does", "hv", Killed, "fairness, permits", 2, 2},
		{"a panic does, at once", "p", Killed, "panicked", 1, 1},
		{"one run without a verdict is bad luck, and is made again", "oh", Survived, "", 3, 0},
		{"two runs without a verdict do", "oo", Killed, "void", 2, 1},
		{"two runs that do not end do", "xx", Killed, "hung", 2, 1},
		{"a run that holds does not", "h", Survived, "", 2, 0},
		{"a run that does not reach it is not made", "u", Unreached, "", 0, 0},
		{"nor is it of one seed of two", "2h", Survived, "", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{mutants: mutants(c.does)}
			results := open(t, filepath.Join(t.TempDir(), "results"))
			if err := Try(t.Context(), config(t, b, results)); err != nil {
				t.Fatal(err)
			}
			all, missing := results.Of(b.mutants)
			if missing != 0 {
				t.Fatal("it has no result")
			}
			r := all[0]
			if r.Status != c.status || strings.Join(r.By, ", ") != c.by || r.Runs != c.runs || r.Of != nil && r.Of.Seed != c.seed {
				t.Errorf("%+v", r)
			}
			if b.runs[c.does] != c.runs {
				t.Errorf("%d runs were made", b.runs[c.does])
			}
		})
	}
}

func TestAnInterruptLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results")
	b := &bench{mutants: mutants("v", "h", "p", "hv", "oo", "u"), stopAt: 5}
	ctx, cancel := context.WithCancel(t.Context())
	b.stop = cancel
	results := open(t, path)
	c := config(t, b, results)
	c.Stages[0].Jobs = 1
	if err := Try(ctx, c); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	before, missing := results.Of(b.mutants)
	if len(before) != 3 || missing != 3 { // v, hh, p; then hv was under way
		t.Fatalf("%d results and %d missing when it was interrupted", len(before), missing)
	}
	results.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"result":{"key":"hal`) // the machine stopped in the middle of a line
	f.Close()

	results = open(t, path)
	b.stop = nil
	if err := Try(t.Context(), config(t, b, results)); err != nil {
		t.Fatal(err)
	}
	after, missing := results.Of(b.mutants)
	if len(after) != 6 || missing != 0 {
		t.Fatalf("%d results and %d missing at the end", len(after), missing)
	}
	if b.runs[""] != 0 || b.runs["v"] != 0 || b.runs["h"] != 0 || b.runs["p"] != 0 || b.runs["hv"] != 2 {
		t.Errorf("runs after the interrupt: %v", b.runs)
	}
	again := open(t, path)
	if all, missing := again.Of(b.mutants); len(all) != 6 || missing != 0 {
		t.Errorf("the file has %d results, %d missing", len(all), missing)
	}
}

func TestResultsOfOtherRunsAreNotGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results")
	open(t, path)
	for _, other := range []Terms{
		{"q", terms.Stages}, {"p", []StageTerms{{"another", terms.Stages[0].Settings}}}, {"p", []StageTerms{{"bench", []Setting{{Seed: 1}}}}},
		{"p", []StageTerms{{"bench", []Setting{{Seed: 1}, {Seed: 2, Recipe: "barrier"}}}}}, {"p", append(slices.Clone(terms.Stages), StageTerms{"tests", nil})},
	} {
		if _, err := OpenResults(path, other); !errors.Is(err, ErrOtherTerms) {
			t.Errorf("%+v: %v", other, err)
		}
	}
}

func TestTheRecipesAsTheyAreHaveToHold(t *testing.T) {
	b := &bench{mutants: mutants("v"), broken: Violated}
	err := Try(t.Context(), config(t, b, open(t, filepath.Join(t.TempDir(), "results"))))
	if !errors.Is(err, ErrBaseline) || !strings.Contains(err.Error(), ": violated: fairness") {
		t.Errorf("%v", err)
	}
	if b.runs["v"] != 0 {
		t.Error("a mutant was run")
	}
}

func TestARunOfTheRecipesThatShowsNothingIsMadeAgain(t *testing.T) {
	for _, end := range []End{Hung, Void} {
		b := &bench{mutants: mutants("v"), broken: end}
		if err := Try(t.Context(), config(t, b, open(t, filepath.Join(t.TempDir(), "results")))); err != nil {
			t.Errorf("%s: %v", end, err)
		}
		if b.runs[""] != 3 || b.runs["v"] != 1 {
			t.Errorf("%s: runs %v", end, b.runs)
		}
	}
}

func TestSummary(t *testing.T) {
	m := mutants("a()", "b()", "c()")
	m[2].Operator = mutate.Swap
	runs := []string{InRuns}
	got := Summary([]Result{
		{Mutant: m[0], Status: Killed, By: []string{"fairness", "permits"}, Stage: InRuns, ReachedBy: runs, Stages: 1},
		{Mutant: m[1], Status: Survived, ReachedBy: runs, Stages: 1},
		{Mutant: m[2], Status: Unreached, Stages: 1},
	})
	want := `survived   recipes/f.go:2: f: drop: b() → 
unreached  recipes/f.go:3: f: swap: c() → 
killed by runs: 1 of 2 mutants that they reach, 50.0 %; 1 more are not reached
by: fairness 1, permits 1
of each operator: drop 1 of 2, swap 0 of 1`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTheSummaryOfThreeStages has a mutant that each stage kills, and one that no stage kills.
func TestTheSummaryOfThreeStages(t *testing.T) {
	m := mutants("a()", "b()", "c()", "d()")
	all := []Result{
		{Mutant: m[0], Status: Killed, Stage: InRuns, ReachedBy: []string{InRuns}, Stages: 1},
		{Mutant: m[1], Status: Killed, Stage: InTests, ReachedBy: []string{InRuns, InTests}, Stages: 2},
		{Mutant: m[2], Status: Killed, Stage: InRaces, ReachedBy: []string{InTests, InRaces}, Stages: 3},
		{Mutant: m[3], Status: Survived, ReachedBy: []string{InTests, InRaces}, Stages: 3},
	}
	got := Summary(all)
	for _, want := range []string{
		"killed by runs: 1 of 2 mutants that they reach, 50.0 %; 2 more are not reached\n",
		"killed by runs or by the recipes' tests: 2 of 4 mutants that either reaches, 50.0 %; 0 more are not reached\n",
		"killed by runs, tests or the race detector: 3 of these, 75.0 %\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := Summary(all[:2]); strings.Contains(got, "race detector") {
		t.Errorf("nothing was run with the race detector:\n%s", got)
	}
}

// TestASecondStageHasTheSurvivors gives the ends of a mutant's runs in its first stage and then
// in its second, in which two tests reach all mutants except those that begin with u.
func TestASecondStageHasTheSurvivors(t *testing.T) {
	for does, want := range map[string]struct {
		status Status
		by     string
		runs   int
	}{
		"v":     {Killed, "fairness, permits", 1},
		"hhf":   {Killed, "failed", 4},
		"hhfh":  {Survived, "", 5},
		"hh":    {Survived, "", 4},
		"hhhff": {Killed, "failed", 5},
		"u":     {Unreached, "", 0},
	} {
		t.Run(does, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "results")
			tests := []Setting{{Test: "recipes.TestA"}, {Test: "recipes.TestB"}}
			results, err := OpenResults(path, Terms{Program: "p", Stages: append(slices.Clone(terms.Stages), StageTerms{"bench", tests})})
			if err != nil {
				t.Fatal(err)
			}
			defer results.Close()
			b := &bench{mutants: mutants(does)}
			c := config(t, b, results)
			if err := Try(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if _, missing := results.Of(b.mutants); (missing == 0) != (want.runs == 1) {
				t.Errorf("after the first stage %d have no result", missing)
			}
			c.Stages = append(c.Stages, Stage{Name: InTests, Runner: b, Settings: tests, Jobs: 2})
			if err := Try(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			all, missing := results.Of(b.mutants)
			if r := all[0]; missing != 0 || r.Status != want.status || strings.Join(r.By, ", ") != want.by || r.Runs != want.runs {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestARunThatFailsByItselfJudgesNoMutant has two runs of the recipes that do not hold.
func TestARunThatFailsByItselfJudgesNoMutant(t *testing.T) {
	b := &bench{mutants: mutants("v"), broken: Violated}
	results := open(t, filepath.Join(t.TempDir(), "results"))
	c := config(t, b, results)
	c.Stages[0].Jobs, c.Stages[0].Spares = 1, true
	if err := Try(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	all, _ := results.Of(b.mutants)
	unfit := results.Unfit()
	if len(unfit) != 1 || !strings.HasPrefix(unfit[0], "seed 1") || all[0].Status != Killed || all[0].Of.Seed != 2 {
		t.Errorf("unfit: %q; killed by %+v", unfit, all[0].Of)
	}
}

// TestRunsThatReachTheFewestMutantsComeFirst has two tests of which the first reaches one
// mutant more.
func TestRunsThatReachTheFewestMutantsComeFirst(t *testing.T) {
	settings := []Setting{{Seed: 2}, {Seed: 1}}
	results, err := OpenResults(filepath.Join(t.TempDir(), "results"), Terms{Program: "p", Stages: []StageTerms{{"bench", settings}}})
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	b := &bench{mutants: mutants("v", "2h")}
	c := config(t, b, results)
	c.Stages[0].Settings, c.Stages[0].ByReach = settings, true
	if err := Try(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	all, _ := results.Of(b.mutants[:1])
	if of := all[0].Of; of == nil || of.Seed != 1 {
		t.Errorf("killed in %+v", of)
	}
}
