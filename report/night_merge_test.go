package report

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// parts returns the two parts of a night of four runs. The run with seed 13 violated a guarantee
// of one recipe of two.
func parts() (first, second *Night) {
	part := func(shard string, started time.Time) *Night {
		return &Night{
			Title: "recipes: mutex,semaphore", Version: "v1", Started: started, First: 10, Seeds: 4, Shard: shard,
			Options: map[string]string{"faults": "all"},
		}
	}
	result := func(seed int64, o verdict.Outcome) *NightResult {
		r := &checker.Report{
			Coverage: checker.Coverage{{Fault: "down", Starts: 2, Met: map[checker.State]int{checker.Idle: 1, checker.Holding: 0}}},
			Meetings: []checker.Meetings{
				{Fault: "down", Recipe: histories.Mutex, Met: map[checker.State]int{checker.Idle: 1, checker.Holding: int(seed) - 10}},
				{Fault: "down", Recipe: histories.Barrier, Met: map[checker.State]int{checker.Idle: 0}},
			},
		}
		return &NightResult{Seed: seed, Target: "recipes", Outcome: o, Reason: "why", Ops: 100, Faults: 2, report: r, Cases: []Case{
			{Recipe: histories.Mutex, Guarantee: checker.Fencing, Outcome: o, Reason: "why", Expected: true},
			{Recipe: histories.Semaphore, Guarantee: checker.Fencing, Outcome: verdict.Holds},
		}}
	}
	first, second = part("1/2", time.Unix(200, 0)), part("2/2", time.Unix(100, 0))
	first.Add(result(10, verdict.Holds))
	first.Add(result(12, verdict.Holds))
	second.Add(result(11, verdict.Holds))
	second.Add(result(13, verdict.Violated))
	second.Results[1].Folder = "seed-13"
	return first, second
}

func TestThePartsOfANightAreMerged(t *testing.T) {
	first, second := parts()
	night, err := MergeNights([]*Night{first, second})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(night.Made()); got != "[10 11 12 13]" {
		t.Errorf("runs %s", got)
	}
	if night.Outcome() != verdict.Violated || night.Shard != "" || night.Parts != 2 || !night.Started.Equal(second.Started) || night.Version != "v1" {
		t.Errorf("%+v", night)
	}
	if c := night.Coverage; len(c) != 1 || c[0].Starts != 8 || c[0].Met[checker.Idle] != 4 {
		t.Errorf("coverage %v", c)
	}
	if m := night.Meetings; len(m) != 2 || m[0].Recipe != histories.Mutex || m[0].Met[checker.Holding] != 6 {
		t.Errorf("meetings %v", m)
	}
	summary := night.Summary("night")
	for _, want := range []string{
		"4 of 4 runs made: 1 violated, 3 holds; 400 operations, 8 faults; 1 of 3 combinations of fault, recipe and state did not occur",
		"seed 13: violated: why", "zkverify replay night/seed-13 --times 10 --until-violated",
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("%q is not in\n%s", want, summary)
		}
	}
}

func TestARunThatIsInNoPartIsMissed(t *testing.T) {
	first, _ := parts()
	night, err := MergeNights([]*Night{first})
	if err != nil {
		t.Fatal(err)
	}
	if night.Outcome() != verdict.Unknown {
		t.Errorf("a night with half of its runs: %s", night.Outcome())
	}
	var page, junit bytes.Buffer
	if err := errors.Join(night.WriteHTML(&page), night.JUnit().Write(&junit)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"summary": night.Summary("x"), "page": page.String(), "junit.xml": junit.String(), "Markdown": night.Markdown("x"),
	} {
		if !strings.Contains(text, "2 of 4 runs not made: seeds 11, 13") {
			t.Errorf("the %s does not tell:\n%s", name, text)
		}
	}
}

func TestWhatIsNoPartOfANightIsNotMerged(t *testing.T) {
	for want, change := range map[string]func(*Night){
		"part 2: it is of another --faults (none)":                func(n *Night) { n.Options = map[string]string{"faults": "none"} },
		"part 2: it is of another target or recipe (zk-lock)":     func(n *Night) { n.Title = "zk-lock" },
		"part 2: its first seed is 11, not 10":                    func(n *Night) { n.First = 11 },
		"part 2: it is a part of 5 runs, not of 4":                func(n *Night) { n.Seeds = 5 },
		"part 2: the run with seed 12 is also in part 1 of these": func(n *Night) { n.Results[0].Seed = 12 },
	} {
		first, second := parts()
		change(second)
		_, err := MergeNights([]*Night{first, second})
		var wrong *MergeError
		if !errors.As(err, &wrong) || wrong.Part != 1 || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := MergeNights(nil); err == nil {
		t.Error("nothing was merged")
	}
}

func TestANightIsTabulatedByRecipeAndGuarantee(t *testing.T) {
	first, second := parts()
	night, err := MergeNights([]*Night{first, second})
	if err != nil {
		t.Fatal(err)
	}
	text := night.Markdown("night")
	for _, want := range []string{
		"## ✗ violated: recipes: mutex,semaphore\n", "| guarantee | mutex | semaphore |\n", "| fencing | ✗ 1 (seed 13), ✓ 3 | ✓ 4 |\n",
		"- **seed 13** ✗ violated: why", "zkverify replay night/seed-13",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var page bytes.Buffer
	if err := night.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`aria-label="1 violated">✗ 1</span> <span class="quiet">seed 13</span>`, `aria-label="4 holds">✓ 4</span>`, "merged from",
		"run it again: <code>zkverify replay seed-13 --times 10 --until-violated</code>", "down",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	evil := aNight()
	evil.Title = "<b>|x"
	if got := evil.Markdown("d"); strings.Contains(got, "<b>") || strings.Contains(got, "</script>") {
		t.Errorf("text is taken for HTML:\n%s", got)
	}
}
