package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/zkverify/zkverify/workload/simulation"
)

//go:generate go test -run ^TestTheTablesInTheDocsAreUpToDate$ -update .

var (
	update       = flag.Bool("update", false, "write the generated tables in the docs")
	coverageFile = flag.String("searched", "", "with -update: the "+simulation.CoverageFile+" of a sweep, whose searches replace docs/searched.json")
)

const tableBegins, tableEnds = "<!-- table -->\n", "<!-- end of table -->"

// The tables of these pages are generated from data.
func TestTheTablesInTheDocsAreUpToDate(t *testing.T) {
	for page, table := range map[string]func(*testing.T) string{
		"docs/bugs.md":    bugsTable,
		"docs/numbers.md": numbersTable,
		"docs/spec.md":    searchedTable,
	} {
		text := readDoc(t, page)
		before, rest, found := strings.Cut(text, tableBegins)
		_, after, closed := strings.Cut(rest, tableEnds)
		if !found || !closed {
			t.Fatalf("%s has no place for the table", page)
		}
		want := before + tableBegins + table(t) + tableEnds + after
		switch {
		case *update:
			if err := os.WriteFile(filepath.Join(root, page), []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		case text != want:
			t.Errorf("%s is not up to date: run go generate ./cmd/zkverify", page)
		}
	}
}

// readData decodes a YAML file of the docs into data.
func readData(t *testing.T, name string, data any) {
	t.Helper()
	if err := yaml.NewDecoder(strings.NewReader(readDoc(t, name)), yaml.Strict()).Decode(data); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// number is a row of docs/numbers.yaml: the head of a section, or a measurement.
type number struct {
	Section   string `yaml:"section"`
	What      string `yaml:"what"`
	Target    string `yaml:"target"`
	Measured  string `yaml:"measured"`
	Command   string `yaml:"command"`   // "" for that of the row before
	ZooKeeper string `yaml:"zookeeper"` // "" if no servers took part
	Date      string `yaml:"date"`
}

func numbersTable(t *testing.T) string {
	var rows []number
	readData(t, "docs/numbers.yaml", &rows)
	var b strings.Builder
	b.WriteString("|what|target|measured|command|ZooKeeper, date|\n|---|---|---|---|---|\n")
	asked := make(map[string]bool)
	for _, r := range rows {
		if r.Section != "" {
			fmt.Fprintf(&b, "|**%s**|||||\n", r.Section)
			continue
		}
		if r.What == "" || r.Measured == "" || r.Date == "" {
			t.Errorf("docs/numbers.yaml: %+v needs what, measured and date", r)
		}
		if r.What != "the same" && asked[r.What] {
			t.Errorf("docs/numbers.yaml has two rows of %q", r.What)
		}
		asked[r.What] = true
		if r.Target == "" {
			r.Target = "–"
		}
		if r.Command == "" {
			r.Command = "the same"
		}
		if r.ZooKeeper != "" {
			r.Date = r.ZooKeeper + ", " + r.Date
		}
		fmt.Fprintf(&b, "|%s|%s|%s|%s|%s|\n", r.What, r.Target, r.Measured, r.Command, r.Date)
	}
	return b.String()
}

// searchedTable is a table of docs/searched.json: of each recipe, the placements that the plan edges
// has tried.
func searchedTable(t *testing.T) string {
	if *update && *coverageFile != "" {
		keepSearches(t, *coverageFile)
	}
	var all []simulation.Searched
	if err := json.Unmarshal([]byte(readDoc(t, "docs/searched.json")), &all); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("|recipe|one act|two, close together|two|\n|---|---|---|---|\n")
	for len(all) > 0 {
		var one, near, two simulation.Tried
		recipe := all[0].Recipe
		for len(all) > 0 && all[0].Recipe == recipe {
			one.Add(all[0].One)
			near.Add(all[0].Near)
			two.Add(all[0].Two)
			all = all[1:]
		}
		fmt.Fprintf(&b, "|%s|%s|%s|%s|\n", recipe, triedCell(one), triedCell(near), triedCell(two))
	}
	return b.String()
}

func triedCell(t simulation.Tried) string {
	if t.Tried == t.All {
		return fmt.Sprintf("**all %d**, %d", t.All, t.Made)
	}
	return fmt.Sprintf("%d/%d, %d", t.Tried, t.All, t.Made)
}

// keepSearches writes the searches of a coverage file to docs/searched.json.
func keepSearches(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var coverage struct {
		Searched []simulation.Searched `json:"searched"`
	}
	if err := json.Unmarshal(text, &coverage); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(coverage.Searched); err == nil {
		text = bytes.ReplaceAll(append(text, '\n'), []byte(`},{"recipe"`), []byte("},\n{\"recipe\"")) // a line for each step
		err = os.WriteFile(filepath.Join(root, "docs/searched.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
