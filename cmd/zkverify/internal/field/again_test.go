package field

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/campaign"
)

// Every line of the page gets repeats, of the run that shows the most lines and violations. After
// that no run is repeated.
func TestEveryLineIsRepeatedByItsSurestRun(t *testing.T) {
	f := builtInField(t)
	f.Explanations = []Explanation{
		{ID: "two", Locks: []string{"*"}, Guarantees: []string{"mutual exclusion"}},
		{ID: "lost", Locks: []string{"*"}, Guarantees: []string{"fencing"}},
	}
	locks := f.Locks()
	one, other := locks[0].id, locks[1].id
	few, many, rare := violatedWith("mutual exclusion", 3), violatedWith("mutual exclusion", 90), violatedWith("fencing", 5)
	few.Violations, many.Violations, rare.Violations = 2, 40, 1
	s := &State{Results: []Result{
		ofLock(one, "a", 1, few),
		ofLock(one, "a", 2, many, rare),
		ofLock(other, "a", 1, few),
	}}
	names := func(c Again) (all []string) {
		for _, r := range c.surest(f, s) {
			all = append(all, fmt.Sprint(r.of.Lock, " ", r.of.Seed))
		}
		slices.Sort(all)
		return all
	}
	want := []string{one + " 2", other + " 1"}
	slices.Sort(want)
	if got := names(Again{Times: 10}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Results[1].Again = []Repeats{{Guarantee: "mutual exclusion", Came: 9, Of: 10}, {Guarantee: "fencing", Came: 1, Of: 10}}
	if got := names(Again{Times: 10}); !slices.Equal(got, []string{other + " 1"}) {
		t.Errorf("%q, but %s was repeated already", got, one)
	}
	// If a line does not come back often enough, another run that has it is repeated. The second
	// line has no other run.
	want = []string{one + " 1", other + " 1"}
	slices.Sort(want)
	if got := names(Again{Times: 10, Enough: 0.95}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := names(Again{Times: 10, Enough: 0.9}); !slices.Equal(got, []string{other + " 1"}) {
		t.Errorf("%q, but %s has come back often enough", got, one)
	}
	// Lines that no repeated run shows are repeated too: here one with another explanation, and
	// one without any.
	s.Results = append(s.Results, ofLock(one, "b", 1, violatedWith("fairness", 3)), ofLock(one, "b", 2, few, violatedWith("progress", 3), violatedWith("fairness", 3)))
	want = []string{one + " 2", other + " 1"}
	slices.Sort(want)
	if got := names(Again{Times: 10}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Results = s.Results[:3]
	// Interrupted repeats are continued.
	if all := (&Again{Times: 12}).surest(f, s); len(all) != 2 || all[0].of != &s.Results[1] {
		t.Errorf("%d runs to repeat: the one with 10 of 12 repeats is not the first of two", len(all))
	}
	// The violation that came back is shown, though it is longer, or else the one whose run was
	// repeated.
	for _, came := range []int{9, 0} {
		s.Results[1].Again[0].Came = came
		r, v := s.shown(func(r *Result, v Verdict) bool { return r.Lock == one && v.Guarantee == "mutual exclusion" })
		if r.Seed != 2 || v.Events != 90 {
			t.Errorf("%d of 10 repeats had it: seed %d with %d events is shown", came, r.Seed, v.Events)
		}
	}
}

// Earlier repeats count too, and each repeat is on disk. A repeat that shows nothing three times
// does not count.
func TestRepeatsAreCounted(t *testing.T) {
	dir, f := t.TempDir(), builtInField(t)
	p := f.planned([]string{"recipes/Mutex"}, []string{"no faults"}, 1, 1)[0]
	run := ofLock("recipes/Mutex", "no faults", 1, violatedWith("fairness", 3), violatedWith("fencing", 3))
	run.Command, run.Again = p.Command(), []Repeats{{Guarantee: "fairness", Came: 4, Of: 7}, {Guarantee: "fencing", Of: 7}}
	s := &State{Results: []Result{run}}

	const unknown, fair, both = `{"outcome":"unknown","reason":"busy"}`,
		`{"outcome":"violated","verdicts":[{"guarantee":"fairness","outcome":"violated","promised":true}]}`,
		`{"outcome":"violated","verdicts":[{"guarantee":"fairness","outcome":"violated","promised":true},{"guarantee":"fencing","outcome":"violated","promised":true}]}`
	var out bytes.Buffer
	a := &again{runner: judging(t, dir, both, unknown, fair, unknown, unknown, unknown), field: f, state: s, out: &out, left: map[*Result]int{}}
	a.Say = func(text string) { fmt.Fprintln(&out, text) }
	if err := a.plan(repeat{&s.Results[0], p}, 10); err != nil {
		t.Fatal(err)
	}
	if len(a.all) != 3 {
		t.Fatalf("%d repeats are left of 10, of which 7 were made", len(a.all))
	}
	for i := range a.all {
		if err := a.work(t.Context(), a.all[i:i+1]); err != nil {
			t.Fatal(err)
		}
		kept, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]Repeats{{{"fairness", 5, 8, ""}, {"fencing", 1, 8, ""}}, {{"fairness", 6, 9, ""}, {"fencing", 1, 9, ""}}, {{"fairness", 6, 9, ""}, {"fencing", 1, 9, ""}}}[i]
		if !slices.Equal(kept.Results[0].Again, want) {
			t.Errorf("after repeat %d %v is on disk, want %v", i+1, kept.Results[0].Again, want)
		}
	}
	for text, times := range map[string]int{"busy: it is made again": 3, "fairness: came back 6 of 9 times": 1, "fencing: came back 1 of 9 times": 1, "(1 of 3, about": 1} {
		if strings.Count(out.String(), text) != times {
			t.Errorf("%q is not told %d times:\n%s", text, times, &out)
		}
	}
	run.Command += " --trace"
	if err := a.plan(repeat{&run, p}, 10); !errors.As(err, new(campaign.Refused)) {
		t.Errorf("a run by another command is repeated: %v", err)
	}
}

// A line that seldom comes back can be repeated by longer runs, which are counted separately. The
// page has the repeats that show the line most often.
func TestRepeatsThatLastLonger(t *testing.T) {
	dir, f := t.TempDir(), builtInField(t)
	p := f.planned([]string{"recipes/Mutex"}, []string{"no faults"}, 1, 1)[0]
	f.Explanations = nil
	run := ofLock("recipes/Mutex", "no faults", 1, violatedWith("fairness", 3), violatedWith("fencing", 3))
	run.Command, run.Again = p.Command(), []Repeats{{Guarantee: "fairness", Came: 9, Of: 10}, {Guarantee: "fencing", Came: 1, Of: 10}}
	s := &State{Results: []Result{run}}
	c := Again{Times: 2, Enough: 0.5, Duration: 3 * time.Minute}
	all := c.surest(f, s)
	if len(all) != 1 {
		t.Fatalf("%d runs to repeat: one line came back in 1 of 10 repeats", len(all))
	}
	longer := strings.Replace(strings.Replace(run.Command, " --duration 25s", "", 1), " --seed", " --duration 3m0s --seed", 1)
	if got := all[0].planned.Command(); got != longer || strings.Count(got, "--duration") != 1 {
		t.Errorf("%s\nwant\n%s", got, longer)
	}
	const fenced, fair = `{"outcome":"violated","verdicts":[{"guarantee":"fencing","outcome":"violated","promised":true}]}`,
		`{"outcome":"violated","verdicts":[{"guarantee":"fairness","outcome":"violated","promised":true}]}`
	a := &again{runner: judging(t, dir, fenced, fair), field: f, state: s, out: new(bytes.Buffer), left: map[*Result]int{}}
	if err := a.plan(all[0], 2); err != nil {
		t.Fatal(err)
	}
	if err := a.work(t.Context(), a.all); err != nil {
		t.Fatal(err)
	}
	want := []Repeats{{"fairness", 9, 10, ""}, {"fencing", 1, 10, ""}, {"fairness", 1, 2, longer}, {"fencing", 1, 2, longer}}
	if got := s.Results[0].Again; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := pageOf(f, s).Groups("")[0].Cells, map[string]string{"fairness": "1 (9/10)", "fencing": "1 (1/2 of 3m)"}; !maps.Equal(got, want) {
		t.Errorf("%q is on the page, want %q", got, want)
	}
	if all := c.surest(f, s); len(all) != 0 {
		t.Errorf("%d runs to repeat, but fencing came back in 1 of 2", len(all))
	}
	c.Enough, c.Times = 0.6, 3
	if all := c.surest(f, s); len(all) != 1 || all[0].made() != 2 {
		t.Errorf("%v is to repeat: 2 of 3 longer repeats were made", all)
	}
}

// A violation does not come back if a repeat violates the guarantee for another reason.
func TestAViolationForAnotherReasonHasNotComeBack(t *testing.T) {
	f := builtInField(t)
	f.Explanations = []Explanation{
		{ID: "left", Locks: []string{"*"}, Guarantees: []string{"no leak"}, Says: "node"},
		{ID: "watched", Locks: []string{"*"}, Guarantees: []string{"no leak"}, Says: "watch"},
	}
	said := func(what string) *Result {
		v := violatedWith("no leak", 3)
		v.What = what
		r := ofLock(f.Locks()[0].id, "no faults", 1, v)
		return &r
	}
	run := said("1 node left")
	for _, what := range []string{"2 nodes left", "a watch left"} {
		repeat{of: run}.count(f, said(what))
	}
	if want := []Repeats{{Guarantee: "no leak", Came: 1, Of: 2}}; !slices.Equal(run.Again, want) {
		t.Errorf("%v, want %v", run.Again, want)
	}
}

func TestRepeatsOfALockThatIsNotInTheFieldAreRefused(t *testing.T) {
	dir, f := t.TempDir(), builtInField(t)
	s := &State{Results: []Result{ofLock("recipes/Mutex", "no faults", 1, violatedWith("fairness", 3))}}
	if err := s.save(dir, f); err != nil {
		t.Fatal(err)
	}
	c := Again{which: which{Lock: []string{"recipes/Mutexx"}}, Dir: dir, Times: 1, Jobs: 1}
	if err := c.Run(t.Context(), new(bytes.Buffer)); !errors.As(err, new(campaign.Refused)) || !strings.Contains(err.Error(), `no lock "recipes/Mutexx"`) {
		t.Errorf("%v; want one that names the lock", err)
	}
}

func TestARunThatCannotTakePlaceIsNotRepeated(t *testing.T) {
	dir, f := t.TempDir(), builtInField(t)
	p := f.planned([]string{"recipes/Mutex"}, []string{"no faults"}, 1, 1)[0]
	run := ofLock("recipes/Mutex", "no faults", 1, violatedWith("fairness", 3))
	run.Command = p.Command()
	a := &again{runner: runner{campaign.Program{Path: "/bin/false"}, &campaign.Campaign{}, dir}, field: f, state: &State{Results: []Result{run}}, out: new(bytes.Buffer), left: map[*Result]int{}}
	if err := a.plan(repeat{&a.state.Results[0], p}, 1); err != nil {
		t.Fatal(err)
	}
	if err := a.work(t.Context(), a.all); !errors.As(err, new(campaign.Refused)) || !strings.Contains(err.Error(), p.Command()) {
		t.Errorf("%v; want one that names the command", err)
	}
}
