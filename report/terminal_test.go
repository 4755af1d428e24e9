package report_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

func sample() *checker.Report {
	met := map[checker.State]int{checker.Idle: 0, checker.Enqueuing: 0, checker.Waiting: 0, checker.Holding: 3, checker.Releasing: 0}
	return &checker.Report{
		Verdicts: []checker.Verdict{
			{
				Guarantee: checker.MutualExclusion, Outcome: checker.Violated, Promised: true, Expected: true,
				Reason: "two owners held one lock at the same time, 5 times", Violations: 5,
				Witnesses: []checker.Witness{{
					From: time.Second, To: 3 * time.Second / 2,
					What:   `process 1 and process 2 both held lock "a" from 1.000000 s to 1.500000 s`,
					Faults: []checker.FaultSpan{{Fault: histories.Fault{Name: "black-hole", Targets: []string{"client 1"}}, From: time.Second / 2, To: 2 * time.Second}},
				}},
				Figures: []checker.Figure{{Name: "holds", Value: 12}},
			},
			{Guarantee: checker.Fairness, Outcome: checker.NotExercised, Reason: "not promised by the target"},
			{Guarantee: checker.NoLeak, Outcome: checker.Holds, Promised: true, Expected: true, Reason: "nothing was left"},
			{Guarantee: checker.Permits, Outcome: checker.NotJudged, Promised: true, Expected: true, Reason: "7 operations on record"},
		},
		Recipes: []checker.RecipeUse{
			{Recipe: histories.Semaphore, Locks: 1, Operations: 7, Got: 3, Held: 2, Awaited: 1},
			{Recipe: histories.Barrier, Locks: 2, Operations: 5, Got: 4, Awaited: 3},
		},
		Coverage: checker.Coverage{{Fault: "black-hole", Starts: 3, Met: met}},
		Meetings: []checker.Meetings{{Fault: "black-hole", Recipe: histories.Semaphore, Met: met}},
		Figures:  []checker.Figure{{Name: "operations", Value: 42}},
		Notes:    []string{"the history is cut off: line 9"},
	}
}

func TestATerminalReportTellsEverythingThatMatters(t *testing.T) {
	var b bytes.Buffer
	if err := report.Terminal(&b, sample(), report.Style{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for _, want := range []string{
		"mutual exclusion        violated       two owners held one lock at the same time, 5 times",
		"fairness                not promised   not promised by the target",
		"no leak                 holds          nothing was left",
		"permits                 not judged     7 operations on record",
		"recipe             locks  operations       got  held as a fault began waited as a fault began",
		"semaphore              1           7         3                      2                       1",
		"barrier                2           5         4                      .                       3",
		"mutual exclusion was violated 5 times:",
		`  1. process 1 and process 2 both held lock "a" from 1.000000 s to 1.500000 s. Fault black-hole on client 1 was active.`,
		"  … and 4 more",
		"black-hole                     3          .          .          .          3          .",
		"operations: 42",
		"note: the history is cut off: line 9",
		"VIOLATED: mutual exclusion: two owners held one lock at the same time, 5 times",
	} {
		found := false
		for _, l := range lines {
			found = found || l == want
		}
		if !found {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("colors where none were asked for")
	}
}

func TestWhatFaultsMetOfSeveralRecipesIsLetters(t *testing.T) {
	r := sample()
	r.Meetings = []checker.Meetings{
		{Fault: "black-hole", Recipe: histories.Semaphore, Met: r.Coverage[0].Met},
		{Fault: "black-hole", Recipe: histories.Barrier, Met: map[checker.State]int{checker.Idle: 2, checker.Waiting: 0}},
		{Fault: "down", Recipe: histories.Semaphore, Met: r.Coverage[0].Met},
		{Fault: "down", Recipe: histories.Barrier, Met: map[checker.State]int{checker.Idle: 0, checker.Waiting: 1}},
	}
	r.Coverage = append(r.Coverage, checker.CoverageRow{Fault: "down", Starts: 12})
	var b bytes.Buffer
	if err := report.Terminal(&b, r, report.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"                          starts semaphore barrier",
		"black-hole                     3 ...h.     i .    ",
		"down                          12 ...h.     . w    ",
	} {
		if !strings.Contains(b.String(), "\n"+want+"\n") {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestServersThatDisagreeAreNamed(t *testing.T) {
	r := sample()
	r.Disagreements = []string{"only 1 of 3 servers (2) have /x"}
	var b bytes.Buffer
	if err := report.Terminal(&b, r, report.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the servers disagree: only 1 of 3 servers (2) have /x", "UNKNOWN: the servers disagree"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestVerdictJSONIsReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := report.JSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var r checker.Report
	if err := r.UnmarshalJSON(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if r.Outcome() != checker.Violated || len(r.Verdicts) != 4 || r.Verdicts[0].Witnesses[0].Faults[0].Name != "black-hole" {
		t.Errorf("got %+v", r)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	if err := report.Terminal(full{}, sample(), report.Style{Color: true}); err == nil {
		t.Error("no error")
	}
}
