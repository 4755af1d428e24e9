package simulation

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
)

// metOnce returns the coverage of one fault of a kind that has met a process of a recipe in
// each of these states.
func metOnce(fault string, r histories.Recipe, in ...checker.State) Met {
	met := map[checker.State]int{}
	for _, s := range checker.States() {
		met[s] = 0
	}
	for _, s := range in {
		met[s]++
	}
	return Met{Starts: map[string]int{fault: 1}, Meetings: []checker.Meetings{{Fault: fault, Recipe: r, Met: met}}}
}

func openSweep(t *testing.T, path string) *Sweep {
	t.Helper()
	s, err := OpenSweep(path, "", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestWhatFaultsHaveMetIsReadAsItWasWritten(t *testing.T) {
	m := metOnce("down", histories.Mutex, checker.Holding)
	m.Meetings = append(m.Meetings, checker.Meetings{Fault: "down", Recipe: histories.Barrier, Met: map[checker.State]int{checker.Idle: 7, checker.Waiting: 0}})
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again Met
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("%v\n%s\n%+v\n%+v", err, text, m, again)
	}
	if err := json.Unmarshal([]byte(`{"recipes":["mutex"],"met":{"down":[[1],[2]]}}`), &again); err == nil {
		t.Error("counts of a recipe that is not named are taken")
	}
}

func TestASweepSumsTheCoverageOfAllItsRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), ResultsFile)
	asked := spec(1, "random", "recipes")
	asked.Faults = []string{"down", "reset"}
	first := openSweep(t, path)
	for seed, met := range []Met{metOnce("down", histories.Mutex, checker.Holding, checker.Idle), metOnce("down", histories.Mutex, checker.Holding), {}} {
		o := Outcome{Spec: asked, Outcome: verdict.Holds, Coverage: met}
		o.Spec.Seed = int64(seed)
		if err := first.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range map[string]*Sweep{"as it was made": first, "gone on with": openSweep(t, path)} {
		p := s.Coverage([]Spec{asked})[0]
		if p.Runs != 3 || p.Without != 1 || p.CoverageSum.Coverage[0].Starts != 2 {
			t.Errorf("%s: %+v", name, p)
		}
		if met := p.Meetings[0].Met; met[checker.Holding] != 2 || met[checker.Idle] != 1 {
			t.Errorf("%s: %v", name, met)
		}
		// Three states of down, and all five of the fault that never began.
		if empty, of := p.Unmet(); len(empty) != 8 || of != 10 {
			t.Errorf("%s: %d of %d cells are empty: %v", name, len(empty), of, empty)
		}
	}
}

func TestTheCellsOfAPlanAreThoseItsRunsCanFill(t *testing.T) {
	for plan, want := range map[string][]string{"edges": {"at-message"}, "island": {"isolate-holder-follower"}} {
		if kinds, _ := spec(1, plan, "recipes").cells(); !slices.Equal(kinds, want) {
			t.Errorf("%s: %v", plan, kinds)
		}
	}
	kinds, recipes := spec(1, "swarm", "recipes").cells()
	if slices.Contains(kinds, "kill-worker") || slices.Contains(kinds, "unplug-server") || !slices.Contains(kinds, "kill-server") {
		t.Errorf("swarm: %v", kinds)
	}
	if !slices.Equal(recipes, []histories.Recipe{histories.Mutex}) {
		t.Errorf("%v", recipes)
	}
}

// rare is a situation that takes one recipe and one fault.
const rare = "second-lock-deleted"

// seen returns a sweep in which every cell was met often, except those of one fault with one
// recipe, and every situation but rare.
func seen(t *testing.T, path string, asked Spec, fault string, r histories.Recipe) *Sweep {
	s := openSweep(t, path)
	kinds, recipes := asked.cells()
	for seed := range 20 {
		met := Met{Starts: map[string]int{}, Situations: situations.Possible(histories.Recipes(), true)}
		for name := range met.Situations {
			met.Situations[name] = 5
		}
		met.Situations[rare] = 0
		for _, k := range kinds {
			for _, recipe := range recipes {
				row := metOnce(k, recipe, checker.States()...)
				if k == fault && recipe == r {
					continue
				}
				met.Starts[k] = 1
				met.Meetings = append(met.Meetings, row.Meetings...)
			}
		}
		o := Outcome{Spec: spec(int64(1000+seed), "random", "recipes"), Outcome: verdict.Holds, Coverage: met}
		if err := s.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestExploreNamesWhatTheSweepHasMetLeast(t *testing.T) {
	asked := spec(1, "explore", "recipes")
	asked.Faults, asked.Recipes = []string{"all"}, []string{"all"}
	path := filepath.Join(t.TempDir(), ResultsFile)
	s := seen(t, path, asked, "kill-leader", histories.Semaphore)
	looked := 0
	for seed := range int64(40) {
		asked.Seed = seed
		got := s.Explore(asked)
		if sought := s.chosen[runName(got)].sought; sought != "" {
			if looked++; sought != rare || !slices.Equal(got.Recipes, []string{"multilock"}) || !slices.Equal(got.Faults, []string{"delete-node"}) {
				t.Errorf("seed %d looks for %s: %v with %v", seed, sought, got.Faults, got.Recipes)
			}
			continue
		}
		if !slices.Contains(got.Faults, "kill-leader") || !slices.Contains(got.Recipes, string(histories.Semaphore)) {
			t.Errorf("seed %d: %v with %v", seed, got.Faults, got.Recipes)
		}
		if len(got.Faults) > exploredCells || len(got.Recipes) > exploredRecipes {
			t.Errorf("seed %d: %v with %v", seed, got.Faults, got.Recipes)
		}
		if again := s.Explore(asked); !reflect.DeepEqual(again, got) {
			t.Errorf("seed %d: %+v, and then %+v", seed, got, again)
		}
		if _, err := got.world(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if looked < 10 || looked > 30 {
		t.Errorf("%d of 40 runs look for a situation", looked)
	}
}

// A situation that many runs have looked for, without one that reached it, leaves room for others.
func TestExploreDoesNotLookForOneSituationAlone(t *testing.T) {
	asked := spec(1, "explore", "recipes")
	asked.Faults, asked.Recipes = []string{"all"}, []string{"all"}
	s := seen(t, filepath.Join(t.TempDir(), ResultsFile), asked, "kill-leader", histories.Semaphore)
	for range 300 {
		if err := s.Add(Outcome{Spec: spec(int64(5000+s.sought[rare]), "explore", "recipes"), Outcome: verdict.Holds, Sought: rare}); err != nil {
			t.Fatal(err)
		}
	}
	sought := map[string]bool{}
	for seed := range int64(40) {
		asked.Seed = seed
		sought[s.chosen[runName(s.Explore(asked))].sought] = true
	}
	if len(sought) < 10 {
		t.Errorf("it looks for %v", sought)
	}
}

// The plan edges reaches what takes an act at a message. Such a run counts as one of explore, and
// is made again by its own plan.
func TestExploreLooksForASituationAtAMessage(t *testing.T) {
	path := filepath.Join(t.TempDir(), ResultsFile)
	s := openSweep(t, path)
	asked := spec(1, "explore", "recipes")
	asked.Faults, asked.Recipes = []string{"all"}, []string{"all"}
	for ; ; asked.Seed++ {
		got := s.Explore(asked)
		if got.Plan != Edges {
			continue
		}
		if again := s.Explore(got); !reflect.DeepEqual(again, got) {
			t.Errorf("%+v\n%+v", got, again)
		}
		if err := s.Add(Outcome{Spec: got, Outcome: verdict.Holds, Coverage: Met{Starts: map[string]int{}}}); err != nil {
			t.Fatal(err)
		}
		break
	}
	for name, s := range map[string]*Sweep{"as it was made": s, "gone on with": openSweep(t, path)} {
		if !s.Has(asked) || s.Coverage([]Spec{asked})[0].Runs != 1 || len(s.sought) != 1 {
			t.Errorf("%s: it has the run: %v; sought %v", name, s.Has(asked), s.sought)
		}
	}
}

// A run that is made again has the drawn faults and recipes in its Spec: they are not drawn
// once more.
func TestExploreLeavesAloneWhatIsNamed(t *testing.T) {
	s := openSweep(t, filepath.Join(t.TempDir(), ResultsFile))
	asked := spec(1, "explore", "recipes")
	asked.Faults, asked.Recipes = []string{"all"}, []string{"all"}
	var drawn Spec
	for seed := range int64(30) {
		asked.Seed = seed
		one := s.Explore(asked)
		if again := s.Explore(one); !reflect.DeepEqual(again, one) {
			t.Errorf("%+v\n%+v", one, again)
		}
		if one.Plan == explores {
			drawn = one
		}
	}
	if !strings.Contains(drawn.Command(), " --faults "+strings.Join(drawn.Faults, ",")) || !strings.Contains(drawn.Command(), " --recipe "+strings.Join(drawn.Recipes, ",")) {
		t.Errorf("%s", drawn.Command())
	}
	asked.Seed, asked.Recipes = drawn.Seed, []string{"mutex"}
	if got := s.Explore(asked); !slices.Equal(got.Recipes, asked.Recipes) || got.allFaults() && got.Plan != Edges {
		t.Errorf("%v with %v", got.Faults, got.Recipes)
	}
	asked.Plan = "random"
	if got := s.Explore(asked); !reflect.DeepEqual(got, asked) {
		t.Errorf("%+v", got)
	}
}

func TestASweepKnowsWhatItHasExplored(t *testing.T) {
	path := filepath.Join(t.TempDir(), ResultsFile)
	asked := spec(1, "explore", "recipes")
	asked.Faults, asked.Recipes = []string{"all"}, []string{"all"}
	s := openSweep(t, path)
	if err := s.Add(Outcome{Spec: s.Explore(asked), Outcome: verdict.Holds, Coverage: metOnce("down", histories.Mutex)}); err != nil {
		t.Fatal(err)
	}
	other := asked
	other.Recipes = []string{"mutex"}
	for name, s := range map[string]*Sweep{"as it was made": s, "gone on with": openSweep(t, path)} {
		if !s.Has(asked) || s.Has(other) {
			t.Errorf("%s: it has what was asked for: %v, something else: %v", name, s.Has(asked), s.Has(other))
		}
	}
}
