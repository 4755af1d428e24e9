package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/faults"
)

const root = "../.."

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The README names three guarantees and gives the number of the others.
func TestTheReadmeGivesTheNumberOfGuarantees(t *testing.T) {
	if others := fmt.Sprintf("%d more", len(checker.Guarantees())-3); !strings.Contains(readDoc(t, "README.md"), others) {
		t.Errorf("the README does not say %q, of guarantees", others)
	}
}

func TestTheDocsSayWhyEveryGuaranteeIsJudgedRight(t *testing.T) {
	var want, got []string
	for _, g := range checker.Guarantees() {
		want = append(want, g.Name)
	}
	// The heading of another section begins with a capital letter.
	for _, heading := range regexp.MustCompile("(?m)^## ([a-z].*)$").FindAllStringSubmatch(readDoc(t, "docs/guarantees.md"), -1) {
		got = append(got, heading[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("docs/guarantees.md has %q, the checker %q", got, want)
	}
}

func TestTheDocsDescribeEveryFault(t *testing.T) {
	text := readDoc(t, "docs/faults.md")
	for _, k := range faults.List() {
		if !strings.Contains(text, "\n- `"+k.Name+"` (") {
			t.Errorf("docs/faults.md does not describe %s", k.Name)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^- `([a-z-]+)` \\(").FindAllStringSubmatch(text, -1) {
		if _, err := faults.List().Select([]string{row[1]}, nil, true); err != nil {
			t.Errorf("docs/faults.md: %v", err)
		}
	}
}

func TestTheScheduleInTheDocsIsOne(t *testing.T) {
	var yaml strings.Builder
	_, rest, _ := strings.Cut(readDoc(t, "docs/schedules.md"), "## Format\n\n")
	for line := range strings.Lines(rest) {
		text, indented := strings.CutPrefix(line, "    ")
		if !indented {
			break
		}
		yaml.WriteString(text)
	}
	s, err := nemesis.ReadYAML(strings.NewReader(yaml.String()), faults.List())
	if err != nil || len(s.Steps) != 3 {
		t.Errorf("%d faults, error %v, in\n%s", len(s.Steps), err, yaml.String())
	}
}

// Every piece of Go in the pages for authors of locks and of tests is a part of a file that is
// compiled, which the comment before the piece names. A line "// …" stands for omitted
// lines.
func TestGoInTheDocsIsCompiled(t *testing.T) {
	block := regexp.MustCompile("(?s)<!-- from (\\S+) -->\n\n```go\n(.*?)```")
	for file, want := range map[string]int{"README.md": 1, "docs/own-lock.md": 4, "docs/testing.md": 5} {
		text := readDoc(t, file)
		if file == "README.md" {
			_, text, _ = strings.Cut(text, "## Test a lock of your own") // another part has a sketch
		}
		found := block.FindAllStringSubmatch(text, -1)
		if len(found) != want || strings.Count(text, "```go") != want {
			t.Errorf("%s has %d pieces of Go, %d of them with their file; want %d", file, strings.Count(text, "```go"), len(found), want)
		}
		for _, m := range found {
			rest := unindented(readDoc(t, m[1]))
			for piece := range strings.SplitSeq(unindented(m[2]), "// …\n") {
				var there bool
				if _, rest, there = strings.Cut(rest, piece); !there {
					t.Errorf("%s: this is not in %s, or not in this order:\n%s", file, m[1], piece)
				}
			}
		}
	}
}

func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, "\t "))
	}
	return b.String()
}
