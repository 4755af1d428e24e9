package selftest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

func matrix() *Matrix {
	seen := Seconds(2200 * time.Millisecond)
	return &Matrix{
		Seed: 7, ZooKeeper: "3.8.0", Took: Seconds(30 * time.Second),
		Trials: []Trial{
			{Provocation: "p", Target: "mutant-a", Recipe: histories.Mutex, Guarantee: checker.MutualExclusion, Seed: 7, OK: true,
				Fired: []string{checker.Fairness, checker.MutualExclusion}, Took: Seconds(7 * time.Second), Seen: &seen, First: "two <holders>"},
			{Provocation: "p", Target: "mutant-b", Recipe: histories.Mutex, Guarantee: checker.Fairness, Seed: 7,
				Why: "escaped: fairness: holds", Kept: "p-mutant-b.jsonl"},
			{Provocation: "p", Target: "recipes", Recipe: histories.Mutex, Seed: 7, OK: true, Again: 2},
			{Provocation: "q", Target: "recipes", Recipe: histories.Mutex, Seed: 7, Why: "no links", NotRun: true},
		},
	}
}

func TestTheMatrixSaysWhatEscapedInPlainWords(t *testing.T) {
	var b bytes.Buffer
	if err := matrix().Text(&b, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"mutant-a  p            mutual exclusion        mutual exclusion; fairness  2.2 s    7.0 s",
		"WRONG",
		"has shown nothing 2× before",
		"mutant-b in p was not caught by fairness: escaped: fairness: holds (p-mutant-b.jsonl)",
		"recipes in q was not run: no links",
		"mutants and known-bad locks caught: 1 of 2; provocations that the correct recipes passed: 1 of 1; in 30.0 s, seed 7, ZooKeeper 3.8.0; 1 not run",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("does not say %q:\n%s", want, b.String())
		}
	}
}

// TestTheMatrixFitsTheTerminal looks at the matrix of all trials, which is 107 columns
// wide and more.
func TestTheMatrixFitsTheTerminal(t *testing.T) {
	m := matrix()
	for _, p := range Provocations() {
		for _, target := range append(p.Mutants, unmutated) {
			trial := Trial{Provocation: p.Name, Target: target, Guarantee: guaranteeFor(target), OK: true, Took: Seconds(12 * time.Second)}
			if trial.Guarantee != "" {
				trial.Fired = []string{trial.Guarantee, checker.NoLostUpdatePlain}
			}
			m.Trials = append(m.Trials, trial)
		}
	}
	for _, width := range []int{160, 120, 100, 80} {
		var b bytes.Buffer
		if err := m.Text(&b, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		// No name is cut or broken.
		for _, trial := range m.Trials {
			for _, name := range []string{trial.Target, trial.Provocation} {
				if !regexp.MustCompile(`(?m)^ *(\S+ +)?` + regexp.QuoteMeta(name) + `( |$)`).MatchString(b.String()) {
					t.Errorf("%s is missing at %d columns", name, width)
				}
			}
		}
	}
}

func TestANarrowMatrixHasTheProvocationsAsHeadings(t *testing.T) {
	var b bytes.Buffer
	if err := matrix().Text(&b, 70); err != nil {
		t.Fatal(err)
	}
	if want := `target      was caught by         seen at  took
p
  mutant-a  mutual exclusion;     2.2 s    7.0 s
            fairness
  mutant-b  nothing               -        0.0 s  WRONG
  recipes   nothing               -        0.0 s  has shown nothing 2×
                                                  before
q
  recipes   not run               -        0.0 s  WRONG

mutant-b in p was not caught by fairness: escaped: fairness: holds
(p-mutant-b.jsonl)

`; !strings.HasPrefix(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTheMatrixSurvivesJSON(t *testing.T) {
	var b bytes.Buffer
	if err := matrix().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got Matrix
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(matrix(), &got); d != "" {
		t.Error(d)
	}
}

func TestTheMatrixIsACaseForEachTrialInJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := matrix().JUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Time    string `xml:"time,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 4 || got.Failures != 1 || got.Skipped != 1 || len(got.Cases) != 4 {
		t.Fatalf("%+v", got)
	}
	if c := got.Cases[0]; c.Name != "mutant-a is caught by mutual exclusion" || c.Time != "7.00" || c.Failure != nil {
		t.Errorf("%+v", c)
	}
	if c := got.Cases[1]; c.Failure == nil || c.Failure.Message != "escaped: fairness: holds" {
		t.Errorf("%+v", c)
	}
	if c := got.Cases[2]; c.Name != "recipes passes" || c.Failure != nil || c.Skipped != nil {
		t.Errorf("%+v", c)
	}
	if got.Cases[3].Skipped == nil {
		t.Errorf("%+v", got.Cases[3])
	}
}

func TestAMatrixIsOKOnlyWhenAllOfItIs(t *testing.T) {
	m := matrix()
	if m.OK() {
		t.Error("a mutant escaped, and it is OK")
	}
	m.Trials = m.Trials[:1]
	if !m.OK() {
		t.Error("the mutant was caught, and it is not OK")
	}
	m.Interrupted = true
	if m.OK() {
		t.Error("it was interrupted, and it is OK")
	}
	if new(Matrix).OK() {
		t.Error("nothing was run, and it is OK")
	}
}
