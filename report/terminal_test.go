package report_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

func sample() *checker.Report {
	met := map[checker.State]int{checker.Idle: 0, checker.Enqueuing: 0, checker.Waiting: 0, checker.Holding: 3, checker.Releasing: 0}
	return &checker.Report{
		Verdicts: []verdict.Verdict{
			{
				Guarantee: checker.MutualExclusion, Outcome: verdict.Violated, Promised: true, Expected: true,
				Reason: "two owners held one lock at the same time, 5 times", Violations: 5,
				Witnesses: []verdict.Witness{{
					From: time.Second, To: 3 * time.Second / 2,
					What:   `process 1 and process 2 both held lock "a" from 1.000000 s to 1.500000 s`,
					Faults: []verdict.FaultSpan{{Fault: histories.Fault{Name: "black-hole", Targets: []string{"client 1"}}, From: time.Second / 2, To: 2 * time.Second}},
				}},
				Figures: []verdict.Figure{{Name: "holds", Value: 12}},
			},
			{Guarantee: checker.Fairness, Outcome: verdict.NotPromised, Reason: "not promised by the target"},
			{Guarantee: checker.Reentrancy, Outcome: verdict.NotPromised, Reason: "not promised by the target"},
			{Guarantee: checker.NoLeak, Outcome: verdict.Holds, Promised: true, Expected: true, Reason: "nothing was left"},
			{Guarantee: checker.Permits, Outcome: verdict.NotJudged, Promised: true, Expected: true, Reason: "7 operations on record"},
		},
		Recipes: []checker.RecipeUse{
			{Recipe: histories.Semaphore, Locks: 1, Operations: 7, Got: 3, Held: 2, Awaited: 1},
			{Recipe: histories.Barrier, Locks: 2, Operations: 5, Got: 4, Awaited: 3},
		},
		Coverage: checker.Coverage{{Fault: "black-hole", Starts: 3, Met: met}},
		Meetings: []checker.Meetings{{Fault: "black-hole", Recipe: histories.Semaphore, Met: met}},
		Figures:  []verdict.Figure{{Name: "operations", Value: 42}},
		Notes:    []string{"the history is cut off: line 9"},
	}
}

func told(t *testing.T, r *checker.Report, run report.Run, style report.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Terminal(&b, r, run, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnExplanationSaysHowManyEventsItLeavesOut(t *testing.T) {
	x := &checker.Explanation{Verdict: sample().Verdicts[0], Story: []checker.Line{{What: "it began", Line: 7}}, More: 3}
	var b bytes.Buffer
	if err := report.Explanation(&b, x, report.Style{}); err != nil || !strings.Contains(b.String(), "line 7\n                and 3 more events\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestATerminalReportIsOneScreen(t *testing.T) {
	run := report.Run{Header: histories.Header{Target: "mine", Recipe: "semaphore", Seed: 7}, Path: "runs/my lock", Page: "runs/my lock/report.html", Facts: []string{"3 cycles"}}
	want := `VIOLATED: mutual exclusion: two owners held one lock at the same time, 5 times
mine semaphore, seed 7, 0 events

mutual exclusion  violated    two owners held one lock at the same time, 5 times
no leak           holds       nothing was left
permits           not judged  7 operations on record
not promised: fairness; reentrancy

mutual exclusion was violated 5 times, first:
  process 1 and process 2 both held lock "a" from 1.000000 s to 1.500000 s.
  Fault black-hole on client 1 was active.

note: the history is cut off: line 9

to look at it: runs/my lock/report.html
what happened: zkverify explain --release-not-held=violation 'runs/my lock'
`
	run.Args = []string{"--release-not-held=violation"}
	if got := told(t, sample(), run, report.Style{Width: 80, Height: 24}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestATerminalReportFitsItsTerminal(t *testing.T) {
	r := sample()
	r.Verdicts[0].Reason = strings.Repeat("something rather long happened to it, ", 9)
	r.Notes = append(r.Notes, strings.Repeat("a note of many words ", 12))
	for _, width := range []int{40, 80, 120} {
		for _, verbose := range []bool{false, true} {
			run := report.Run{Header: histories.Header{Target: "mine", Recipe: "semaphore"}, Path: "x", Facts: []string{strings.Repeat("a fact of many words ", 12)}}
			text := told(t, r, run, report.Style{Width: width, Verbose: verbose})
			tables := 0 // those of a verbose report need 66 letters
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					tables++
				}
			}
			if tables > 0 && (!verbose || width >= 80) {
				t.Errorf("%d lines are wider than %d in\n%s", tables, width, text)
			}
			if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, strings.TrimSpace(r.Verdicts[0].Reason)) {
				t.Errorf("the reason is cut off at %d:\n%s", width, text)
			}
		}
	}
}

// The last screen of a report shows the outcome, even if the report is longer than the screen.
func TestTheOutcomeIsOnTheLastScreen(t *testing.T) {
	for _, height := range []int{5, 10, 17, 18, 24, 50} {
		text := told(t, sample(), report.Run{Path: "runs/x", Page: "runs/x/report.html"}, report.Style{Width: 80, Height: height})
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		last := lines[max(0, len(lines)+1-height):] // the prompt has a line too
		if !strings.Contains(strings.Join(last, "\n"), "VIOLATED: ") {
			t.Errorf("on the last %d lines of\n%s", height, text)
		}
		if n := strings.Count(text, "VIOLATED: "); n != 1 && len(lines) < height {
			t.Errorf("%d times in\n%s", n, text)
		}
	}
}

func TestWhatToDoNextDependsOnTheOutcome(t *testing.T) {
	for o, want := range map[verdict.Outcome]string{
		verdict.Violated:     "to look at it: d/report.html\nwhat happened: zkverify explain d\n",
		verdict.Holds:        "to look at it: d/report.html\nhistory, verdict and logs: d\n",
		verdict.Unknown:      "to look at it: d/report.html\nhistory, verdict and logs: d\n",
		verdict.NotExercised: "to look at it: d/report.html\nto put more to the test: run longer (--duration), or name the faults (--faults)\n",
	} {
		r := &checker.Report{Verdicts: []verdict.Verdict{{Guarantee: checker.Fencing, Outcome: o, Promised: true, Expected: true, Reason: "because"}}}
		if got := told(t, r, report.Run{Path: "d", Page: "d/report.html"}, report.Style{}); !strings.HasSuffix(got, "\n\n"+want) {
			t.Errorf("of one that %s:\n%s", o, got)
		}
	}
}

func TestAVerboseReportTellsEverythingThatIsOnRecord(t *testing.T) {
	text := told(t, sample(), report.Run{Facts: []string{"3 cycles, 1 a second"}}, report.Style{Verbose: true})
	for _, want := range []string{
		"mutual exclusion  violated    two owners held one lock at the same time, 5 times",
		"                              holds: 12",
		"recipe             locks  operations       got    held  waited",
		"semaphore              1           7         3       2       1",
		"barrier                2           5         4       .       3",
		"mutual exclusion was violated 5 times:",
		`  1. process 1 and process 2 both held lock "a" from 1.000000 s to 1.500000 s. Fault black-hole on client 1 was active.`,
		"  … and 4 more",
		"black-hole      3         .         .         .         3         .",
		"operations: 42",
		"3 cycles, 1 a second",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("colors where none were asked for")
	}
	if text := told(t, sample(), report.Run{}, report.Style{Color: true}); !strings.HasPrefix(text, "\x1b[1;31mVIOLATED:\x1b[0m mutual") {
		t.Errorf("without a color:\n%s", text)
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
	text := told(t, r, report.Run{}, report.Style{Verbose: true})
	for _, want := range []string{
		"           starts semaphore barrier",
		"black-hole      3 ...h.     i .    ",
		"down           12 ...h.     . w    ",
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestServersThatDisagreeAreNamed(t *testing.T) {
	r := sample()
	r.Disagreements = []string{"only 1 of 3 servers (2) have /x"}
	text := told(t, r, report.Run{}, report.Style{Verbose: true})
	for _, want := range []string{"the servers disagree: only 1 of 3 servers (2) have /x", "UNKNOWN: the servers disagree"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
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
	if r.Outcome() != verdict.Violated || len(r.Verdicts) != 5 || r.Verdicts[0].Witnesses[0].Faults[0].Name != "black-hole" {
		t.Errorf("got %+v", r)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	if err := report.Terminal(full{}, sample(), report.Run{}, report.Style{Color: true}); err == nil {
		t.Error("no error")
	}
}

// All recipes, and the fault with the longest name: the table is cut between columns.
func TestWhatFaultsMetFitsTheTerminal(t *testing.T) {
	r := sample()
	r.Meetings = nil
	for _, fault := range []string{"isolate-holder-follower", "down"} {
		for _, recipe := range histories.Recipes() {
			r.Meetings = append(r.Meetings, checker.Meetings{Fault: fault, Recipe: recipe, Met: r.Coverage[0].Met})
		}
	}
	text := told(t, r, report.Run{}, report.Style{Verbose: true, Width: 80})
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d letters: %s", n, line)
		}
	}
	for _, recipe := range histories.Recipes() {
		if !strings.Contains(text, " "+string(recipe)) {
			t.Errorf("%s is not in\n%s", recipe, text)
		}
	}
}

// Guarantees that are broken for one cause stand together.
func TestOneCauseIsToldOnce(t *testing.T) {
	w := []verdict.Witness{{What: "it broke"}}
	causes := []verdict.Cause{{What: verdict.NotTold, Count: 143}}
	r := &checker.Report{Verdicts: []verdict.Verdict{
		{Guarantee: "mutual exclusion", Outcome: verdict.Violated, Promised: true, Reason: "two", Violations: 145, Witnesses: w, Causes: causes},
		{Guarantee: "no lost update, plain", Outcome: verdict.Violated, Promised: true, Reason: "2 writes of 26 lost", Violations: 2, Witnesses: w, Causes: causes},
		{Guarantee: "fairness", Outcome: verdict.Violated, Promised: true, Reason: "three", Violations: 3, Witnesses: w},
	}}
	text := told(t, r, report.Run{}, report.Style{})
	for _, want := range []string{
		"  cause: " + verdict.NotTold + ", 143 of 145 violations\n",
		"  the same cause: no lost update, plain, violated 2 times: 2 writes of 26 lost\n",
		"fairness was violated 3 times, first:",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "no lost update, plain was violated") {
		t.Errorf("the second guarantee is told twice:\n%s", text)
	}
}
