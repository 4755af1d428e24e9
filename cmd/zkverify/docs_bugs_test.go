package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/trackrecord"
	"github.com/zkverify/zkverify/workload/selftest"
	"github.com/zkverify/zkverify/workload/targets"
)

// bug is a row of docs/bugs.yaml: the head of a section, or a bug.
type bug struct {
	Section string   `yaml:"section"`
	Bug     string   `yaml:"bug"`
	Record  []string `yaml:"record"`  // its scripts in the track record
	Mutants []string `yaml:"mutants"` // the targets that have it
	What    string   `yaml:"what"`    // describes it if no script and no mutant does
	Tests   []string `yaml:"tests"`   // of the recipes
	Models  []string `yaml:"models"`  // the switches of spec/*.pml that are it, model/BUG_…; or why there is none
}

// switches returns the switches of the models that are the bug.
func (b bug) switches() []string {
	return slices.DeleteFunc(slices.Clone(b.Models), func(s string) bool { return strings.Contains(s, " ") })
}

// recordedBugs returns the bugs of the track record by their names.
func recordedBugs(t *testing.T) map[string]trackrecord.Bug {
	t.Helper()
	record, err := trackrecord.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]trackrecord.Bug)
	for _, b := range record.Bugs {
		all[b.ID] = b
	}
	return all
}

func bugsTable(t *testing.T) string {
	var rows []bug
	readData(t, "docs/bugs.yaml", &rows)
	recorded := recordedBugs(t)
	var b strings.Builder
	b.WriteString("| bug | what it is, and what shows it | kept out by |\n| --- | --- | --- |\n")
	for _, r := range rows {
		if r.Section != "" {
			fmt.Fprintf(&b, "| **%s** | | |\n", r.Section)
			continue
		}
		title, says, source := r.Bug, []string{}, []string{}
		for _, name := range r.Record {
			one := recorded[name]
			if one.Issue != "" {
				title = strings.Replace(title, name, "["+name+"]("+one.Issue+")", 1)
			}
			if one.Mutant == "" {
				says = append(says, recordSays(one))
			} else {
				source = append(source, sourceOf(one))
			}
		}
		for _, name := range r.Mutants {
			d, _ := selftest.Known(name)
			says = append(says, fmt.Sprintf("`%s`: %s (*%s*)", name, d.What, d.Guarantee))
		}
		says = append(says, source...)
		if r.What != "" {
			says = append(says, r.What)
		}
		if switches := r.switches(); len(switches) > 0 {
			says = append(says, "Model: `"+strings.Join(switches, "`, `")+"`")
		}
		if len(r.Tests) == 0 {
			r.Tests = []string{"–"}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", title, strings.Join(says, ". "), strings.Join(r.Tests, ", "))
	}
	return b.String()
}

// recordSays tells of a bug of the track record, the lines that are to blame, and the script.
func recordSays(b trackrecord.Bug) string {
	text := strings.TrimRight(strings.Join(strings.Fields(b.What), " "), ".") + ". " + sourceOf(b)
	switch {
	case b.Run != nil:
		return fmt.Sprintf("%s. Shown with %s: *%s*", text, b.With, strings.Join(b.Run.Guarantees, "*, *"))
	case b.Steps != nil:
		return fmt.Sprintf("%s. Shown with %s: *%s*", text, b.With, b.Steps.Shows)
	}
	return text + ". Not shown: " + b.NotHad
}

// sourceOf returns the lines that are to blame for a bug, and the versions.
func sourceOf(b trackrecord.Bug) string {
	if len(b.Source) == 0 {
		return "Versions: " + b.Versions
	}
	return "Source: " + strings.Join(b.Source, "; ") + "; " + b.Versions
}

// testsOfTheRecipes returns the code of the tests of the recipes and of their parts.
func testsOfTheRecipes(t *testing.T) string {
	t.Helper()
	var tests strings.Builder
	for _, pattern := range []string{"recipes/*_test.go", "recipes/internal/*/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal("no tests of the recipes", err)
		}
		for _, f := range files {
			tests.WriteString(readDoc(t, strings.TrimPrefix(f, root+"/")))
		}
	}
	return tests.String()
}

func TestEveryTestAndMutantOfTheBugListExists(t *testing.T) {
	bugs, tests := readDoc(t, "docs/bugs.md"), testsOfTheRecipes(t)
	named := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(bugs, -1)
	if len(named) < 100 {
		t.Fatalf("docs/bugs.md names only %d tests", len(named))
	}
	for _, name := range named {
		if !strings.Contains(tests, "func "+name+"(t *testing.T)") {
			t.Errorf("docs/bugs.md names %s, which is no test of the recipes", name)
		}
	}
	known := map[string]bool{}
	for _, m := range targets.Mutants() {
		known[m.Name()] = true
	}
	for _, name := range regexp.MustCompile(`mutant-[a-z-]+`).FindAllString(bugs, -1) {
		if !known[name] {
			t.Errorf("docs/bugs.md names %s, which is no mutant", name)
		}
	}
}

// Most bugs of a protocol are a switch of its model, which a search has to find.
func TestTheSwitchesOfTheBugListExist(t *testing.T) {
	var rows []bug
	readData(t, "docs/bugs.yaml", &rows)
	protocol, found := 0, 0
	for _, r := range rows {
		if len(r.Models) == 0 {
			continue
		}
		protocol++
		switches := r.switches()
		if len(switches) > 0 {
			found++
		}
		for _, s := range switches {
			model, name, _ := strings.Cut(s, "/")
			declared := regexp.MustCompile(`(?m)^ \* switch: ` + regexp.QuoteMeta(name) + `[= ]`)
			if !strings.HasPrefix(name, "BUG_") || !declared.MatchString(readDoc(t, "spec/"+model+".pml")) {
				t.Errorf("%q names %s, which is no switch of a mistake", r.Bug, s)
			}
		}
	}
	t.Logf("%d of %d bugs of protocols have a switch", found, protocol)
	if found*100 < protocol*90 {
		t.Errorf("only %d of %d bugs of protocols have a switch", found, protocol)
	}
}

// Each target that the self-test runs and each bug of the track record has one row, whose title
// has the numbers of the reports that the target is taken from.
func TestTheBugListHasEveryBugOnce(t *testing.T) {
	var rows []bug
	readData(t, "docs/bugs.yaml", &rows)
	at := make(map[string]int)
	number := regexp.MustCompile(`\d{2,}`)
	recorded := recordedBugs(t)
	for _, r := range rows {
		if r.Section == "" && (r.Bug == "" || (r.What == "") == (len(r.Mutants)+len(r.Record) == 0)) {
			t.Errorf("%+v needs a name, and either what or what shows it", r)
		}
		for _, name := range r.Record {
			at[name]++
			if one, there := recorded[name]; !there || !strings.Contains(r.Bug, name) {
				t.Errorf("%q has the script %s, which is none, or not in its name", r.Bug, name)
			} else if one.Mutant != "" && !slices.Contains(r.Mutants, one.Mutant) {
				t.Errorf("%q does not name %s, by which the track record shows it", r.Bug, one.Mutant)
			}
		}
		for _, name := range r.Mutants {
			at[name]++
			d, _ := selftest.Known(name)
			for _, id := range number.FindAllString(d.Bug, -1) {
				if !strings.Contains(r.Bug, id) {
					t.Errorf("%q has %s, which is taken from %s", r.Bug, name, d.Bug)
				}
			}
		}
	}
	want := make(map[string]bool)
	for name := range recorded {
		want[name] = true
	}
	for _, p := range selftest.Provocations() {
		for _, m := range p.Mutants {
			want[m] = true
		}
	}
	for name := range want {
		if at[name] != 1 {
			t.Errorf("%s is in %d rows", name, at[name])
		}
	}
	for name := range at {
		if !want[name] {
			t.Errorf("%s is no target of the self-test and no bug of the track record", name)
		}
	}
}
