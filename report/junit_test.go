package report_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// junitLines writes junit.xml, reads it back, and returns a line for each case.
func junitLines(t *testing.T, header histories.Header, r *checker.Report) []string {
	t.Helper()
	var b bytes.Buffer
	if err := report.JUnitOf(header, r, 90*time.Second).Write(&b); err != nil {
		t.Fatal(err)
	}
	type message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	var suite struct {
		Name                             string `xml:"name,attr"`
		Tests, Failures, Errors, Skipped int
		Time                             string     `xml:"time,attr"`
		Attributes                       []xml.Attr `xml:",any,attr"`
		Cases                            []struct {
			Class   string   `xml:"classname,attr"`
			Name    string   `xml:"name,attr"`
			Failure *message `xml:"failure"`
			Error   *message `xml:"error"`
			Skipped *message `xml:"skipped"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	counted := ""
	for _, a := range suite.Attributes {
		counted += a.Name.Local + " " + a.Value + " "
	}
	lines := []string{fmt.Sprintf("%s, %s s: %s", suite.Name, suite.Time, strings.TrimSpace(counted))}
	for _, c := range suite.Cases {
		line := c.Class + " " + c.Name + ": "
		switch {
		case c.Failure != nil:
			line += "failure: " + c.Failure.Message + ": " + c.Failure.Text
		case c.Error != nil:
			line += "error: " + c.Error.Message
		case c.Skipped != nil:
			line += "skipped: " + c.Skipped.Message
		default:
			line += "passed"
		}
		lines = append(lines, line)
	}
	return lines
}

func verdictOn(guarantee string, o verdict.Outcome, reason string, witnesses ...verdict.Witness) verdict.Verdict {
	return verdict.Verdict{Guarantee: guarantee, Outcome: o, Reason: reason, Promised: true, Expected: true, Witnesses: witnesses, Violations: len(witnesses)}
}

func TestARunIsACaseForEachRecipeAndGuaranteeInJUnit(t *testing.T) {
	header := histories.Header{Target: "recipes", Locks: map[string]histories.Lock{"m": {Recipe: histories.Mutex}, "n": {Recipe: histories.NonReentrant}, "s": {Recipe: histories.Semaphore, Size: 2}}}
	uses := []checker.RecipeUse{{Recipe: histories.Mutex}, {Recipe: histories.NonReentrant}, {Recipe: histories.Semaphore}}
	fairness := verdictOn(checker.Fairness, verdict.NotPromised, "not promised by the target")
	fairness.Promised = false
	r := &checker.Report{Recipes: uses, Verdicts: []verdict.Verdict{
		verdictOn(checker.MutualExclusion, verdict.Violated, "two owners", verdict.Witness{Lock: "m", What: "p and <q>"}),
		verdictOn(checker.Reentrancy, verdict.Unknown, "gave up"),
		fairness,
		verdictOn(checker.Permits, verdict.NotExercised, "no client came"),
		verdictOn(checker.NoLeak, verdict.Violated, "left", verdict.Witness{What: "a node is left"}),
		verdictOn(checker.Progress, verdict.Holds, "all came"),
	}}
	got := strings.Join(junitLines(t, header, r), "\n")
	want := strings.Join([]string{
		"zkverify recipes, 90.00 s: tests 14 failures 4 errors 3 skipped 3",
		"recipes.mutex mutual exclusion: failure: two owners: p and <q>. No fault was active.",
		"recipes.mutex reentrancy: error: unknown: gave up",
		"recipes.mutex fairness: skipped: not promised by the target",
		"recipes.mutex progress: passed",
		"recipes.mutex no leak: failure: left: a node is left. No fault was active.",
		"recipes.nonreentrant mutual exclusion: passed",
		"recipes.nonreentrant reentrancy: error: unknown: gave up",
		"recipes.nonreentrant fairness: skipped: not promised by the target",
		"recipes.nonreentrant progress: passed",
		"recipes.nonreentrant no leak: failure: left: a node is left. No fault was active.",
		"recipes.semaphore fairness: skipped: not promised by the target",
		"recipes.semaphore progress: passed",
		"recipes.semaphore no leak: failure: left: a node is left. No fault was active.",
		"recipes.semaphore permits: error: not exercised: no client came",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	// It is unknown which recipe a violation without a witness belongs to.
	r.Verdicts[0].Violations = 2
	if line := junitLines(t, header, r)[6]; !strings.HasPrefix(line, "recipes.nonreentrant mutual exclusion: error: unknown: it is violated on locks of other recipes") {
		t.Error(line)
	}
}

func TestNoSuitePassesWhoseRunDoesNot(t *testing.T) {
	r := &checker.Report{Recipes: []checker.RecipeUse{{Recipe: histories.Mutex}}, Verdicts: []verdict.Verdict{verdictOn(checker.Progress, verdict.Holds, "all came")}}
	if got := strings.Join(junitLines(t, histories.Header{Target: "x"}, r), "\n"); strings.Contains(got, "error") && !strings.Contains(got, "errors 0") {
		t.Errorf("a run that holds: %s", got)
	}
	r.Disagreements = []string{"only one server has /x"}
	if got := junitLines(t, histories.Header{Target: "x"}, r); len(got) != 3 || !strings.HasPrefix(got[2], "x the run as a whole: error: unknown: the servers disagree") {
		t.Errorf("servers that disagree: %q", got)
	}
}
