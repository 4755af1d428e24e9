package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
)

func aNight() *Night {
	return &Night{
		Title: "recipes", First: 100, Seeds: 6, Options: map[string]string{"duration": "60s", "faults": "all"},
		Results: []NightResult{
			{Seed: 100, Outcome: verdict.Holds, Reason: "all hold", Took: time.Minute, Ops: 10, Target: "recipes", Cases: []Case{{Recipe: "mutex", Guarantee: "fencing", Outcome: verdict.Holds}}},
			{Seed: 103, Outcome: verdict.Violated, Reason: "two </script><b>holders", Folder: "seed-103", Ops: 5, Target: "recipes", Cases: []Case{
				{Recipe: "mutex", Guarantee: "fencing", Outcome: verdict.Violated, Reason: "it went back"}, {Recipe: "semaphore", Guarantee: "fencing", Outcome: verdict.Holds},
			}},
			{Seed: 101, Outcome: verdict.NotExercised, Reason: "too short", Ops: 1, VoidRuns: []string{"seed-101-void-1"}},
		},
	}
}

func TestANightIsGoneOnWithWhereItStopped(t *testing.T) {
	n := aNight()
	if left := n.Left(); !slices.Equal(left, []int64{102, 104, 105}) {
		t.Errorf("left %v", left)
	}
	// The parts share all seeds, each has one part.
	n.Results = nil
	for shard, want := range map[string][]int64{"1/2": {100, 102, 104}, "2/2": {101, 103, 105}} {
		n.Shard = shard
		if got := n.Left(); !slices.Equal(got, want) {
			t.Errorf("part %s is %v", shard, got)
		}
	}

	text, err := json.Marshal(aNight())
	if err != nil {
		t.Fatal(err)
	}
	again := new(Night)
	if err := errors.Join(json.Unmarshal(text, again), again.Check()); err != nil || again.Summary("d") != aNight().Summary("d") || again.Differs(aNight()) != "" {
		t.Fatalf("%v\n%v", err, again)
	}
	for what, change := range map[string]func(*Night){
		"target or recipe (recipes)": func(n *Night) { n.Title = "zk-lock" },
		"shard ()":                   func(n *Night) { n.Shard = "1/2" },
		"--duration (60s)":           func(n *Night) { n.Options["duration"] = "5s" },
		"--image ()":                 func(n *Night) { n.Options["image"] = "other" },
	} {
		other := aNight()
		change(other)
		if got := again.Differs(other); got != what {
			t.Errorf("differs in %q, want %q", got, what)
		}
	}
	if err := new(Night).Check(); err == nil {
		t.Error("something else is taken for a night")
	}
	old := aNight()
	if old.Results[0].Cases[0].Outcome = ""; old.Check() == nil {
		t.Error("a night that an older zkverify has written is taken for one of this version")
	}
}

func TestTheOutcomeOfANightIsThatOfItsWorstRun(t *testing.T) {
	all := func(outcomes ...verdict.Outcome) *Night {
		n := &Night{Seeds: len(outcomes), Options: map[string]string{"a": "b"}}
		for i, o := range outcomes {
			n.Results = append(n.Results, NightResult{Seed: int64(i), Outcome: o})
		}
		return n
	}
	for _, c := range []struct {
		night *Night
		want  verdict.Outcome
	}{
		{all(verdict.Holds, verdict.Holds), verdict.Holds},
		{all(verdict.Holds, verdict.NotExercised), verdict.NotExercised},
		{all(verdict.Unknown, verdict.NotExercised), verdict.Unknown},
		{all(verdict.Unknown, verdict.Violated, verdict.Holds), verdict.Violated},
	} {
		if got := c.night.Outcome(); got != c.want {
			t.Errorf("%v: %s, want %s", c.night.Results, got, c.want)
		}
	}
	unfinished := all(verdict.Holds, verdict.Holds)
	unfinished.Seeds++
	if got := unfinished.Outcome(); got != verdict.Unknown {
		t.Errorf("a run is missing: %s", got)
	}
	troubled := all(verdict.Holds)
	troubled.Results[0].Trouble = "a fault did not heal"
	if got := troubled.Outcome(); got != verdict.Unknown || troubled.Results[0].Passed() {
		t.Errorf("a run had trouble: %s", got)
	}
}

// A night is compared with one of an earlier version, which named a guarantee otherwise.
func TestOldNamesOfGuaranteesAreReadInNights(t *testing.T) {
	n := new(Night)
	err := json.Unmarshal([]byte(`{"results": [{"cases": [{"guarantee": "says what is so", "outcome": "violated"}]}]}`), n)
	if err != nil || n.Results[0].Cases[0].Guarantee != checker.AnswersAreTrue || n.Results[0].Cases[0].Outcome != verdict.Violated {
		t.Errorf("%+v, %v", n.Results, err)
	}
}

func TestANightIsTold(t *testing.T) {
	n := aNight()
	summary := n.Summary("nights")
	for _, want := range []string{"3 of 6 runs made: 1 violated, 1 not exercised, 1 holds; 16 operations, 0 faults", "3 of 6 runs not made: seeds 102, 104, 105", "seed 103: violated: two", "  zkverify replay nights/seed-103 --times 10 --until-violated", "seed 101: not exercised: too short; 1 operation, 0 faults, 0.0 s; made again once because the servers disagreed (seed-101-void-1)"} {
		if !strings.Contains(summary, want) {
			t.Errorf("%q is not in the summary:\n%s", want, summary)
		}
	}
	var page bytes.Buffer
	if err := n.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	if strings.Contains(text, "<b>holders") || !strings.Contains(text, `href="seed-103/report.html"`) || strings.Contains(text, `href="seed-100`) || !strings.Contains(text, `href="seed-101-void-1/"`) {
		t.Errorf("the page:\n%s", text)
	}
	if strings.Index(text, ">103<") > strings.Index(text, ">100<") {
		t.Error("what failed does not come first")
	}
	var junit bytes.Buffer
	if err := n.JUnit().Write(&junit); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &suite); err != nil || suite.Tests != 4 || suite.Failures != 1 || suite.Errors != 1 || !strings.Contains(junit.String(), `classname="recipes.mutex.seed-103"`) {
		t.Errorf("%v: %s", err, junit.String())
	}
	r := NightResult{Seed: 7, Outcome: verdict.Violated, Reason: "100 % wrong\nindeed"}
	if got := r.Annotation(); !strings.HasPrefix(got, "::error title=zkverify seed 7::violated: 100 %25 wrong%0Aindeed") {
		t.Error(got)
	}
}
