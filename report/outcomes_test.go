package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// All reports of a verdict show the same outcome: the terminal, verdict.json,
// junit.xml, the page of the run, and the page of a night with that run in it.
func TestEverythingThatShowsAVerdictShowsTheSameOutcome(t *testing.T) {
	header := histories.Header{Target: "recipes", Locks: map[string]histories.Lock{"m": {Recipe: histories.Mutex}}}
	for _, o := range verdict.Outcomes() {
		for _, expected := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, expected %v", o, expected), func(t *testing.T) {
				v := verdict.Verdict{
					Guarantee: checker.Fencing, Outcome: o, Promised: o != verdict.NotPromised, Expected: expected,
					Reason: "for a reason",
				}
				if o == verdict.NotPromised {
					v.Reason = "not promised by the target"
				}
				if o == verdict.Violated {
					v.Witnesses, v.Violations = []verdict.Witness{{Lock: "m", What: "a witness"}}, 1
				}
				r := &checker.Report{Verdicts: []verdict.Verdict{v}, Recipes: []checker.RecipeUse{{Recipe: histories.Mutex}}}
				for name, shown := range map[string]string{
					"terminal": terminalOutcome(t, r), "verdict.json": jsonOutcome(t, r), "junit.xml": junitOutcome(t, header, r),
					"report.html": pageOutcome(t, header, r), "index.html": nightOutcome(t, header, r),
				} {
					if shown != string(o) {
						t.Errorf("%s shows %q", name, shown)
					}
				}
			})
		}
	}
}

func terminalOutcome(t *testing.T, r *checker.Report) string {
	var b bytes.Buffer
	if err := Terminal(&b, r, Run{}, Style{}); err != nil {
		t.Fatal(err)
	}
	return longestOutcomeIn(strings.Split(b.String(), "\n")[3]) // after the outcome, the run and a blank line
}

func jsonOutcome(t *testing.T, r *checker.Report) string {
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var got struct{ Verdicts []struct{ Outcome string } }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got.Verdicts[0].Outcome
}

// junitOutcome reads the kind and the message of the JUnit case.
func junitOutcome(t *testing.T, header histories.Header, r *checker.Report) string {
	var b bytes.Buffer
	if err := JUnitOf(header, r, time.Second).Write(&b); err != nil {
		t.Fatal(err)
	}
	type message struct {
		Text string `xml:"message,attr"`
	}
	var suite struct {
		Cases []struct {
			Failure *message `xml:"failure"`
			Error   *message `xml:"error"`
			Skipped *message `xml:"skipped"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	switch c := suite.Cases[0]; {
	case c.Failure != nil:
		return "violated"
	case c.Error != nil:
		return longestOutcomeIn(c.Error.Text)
	case c.Skipped != nil:
		return longestOutcomeIn(c.Skipped.Text)
	}
	return "holds"
}

var badge = regexp.MustCompile(`<span class="badge [a-z]+"><span aria-hidden="true">[^<]*</span> ([a-z ]+)</span>`)

var cellLabel = regexp.MustCompile(`<span class="badge [a-z]+" role="img" aria-label="([a-z ]+)">`)

func pageOutcome(t *testing.T, header histories.Header, r *checker.Report) string {
	var b bytes.Buffer
	if err := HTML(t.Context(), &b, "x", header, func(func(*histories.Event, error) bool) {}, r); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(b.String(), `<section id="verdicts"`)
	return badge.FindStringSubmatch(table)[1]
}

func nightOutcome(t *testing.T, header histories.Header, r *checker.Report) string {
	night := &Night{Title: "x", Seeds: 1, Options: map[string]string{"faults": "all"}, Results: []NightResult{*ResultOf(1, header, r, time.Second)}}
	var b bytes.Buffer
	if err := night.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(b.String(), `<section id="runs"`)
	return cellLabel.FindStringSubmatch(row)[1]
}

// longestOutcomeIn returns the outcome that a text begins with or names.
func longestOutcomeIn(text string) string {
	for _, o := range verdict.Outcomes() {
		if strings.Contains(text, string(o)) {
			return string(o)
		}
	}
	return ""
}
