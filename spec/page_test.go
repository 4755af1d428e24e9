package spec

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Numbers of states, and where lines break, do not count.
func TestThePageHasTheSearchesOfTheModels(t *testing.T) {
	all, err := models()
	if err != nil {
		t.Fatal(err)
	}
	var made []trial
	for _, m := range all {
		for _, s := range m.searches {
			made = append(made, trial{model: m, search: s, found: found{result: s.want}})
		}
	}
	text, err := os.ReadFile("../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begins := strings.Cut(string(text), searchesMark)
	list, _, ends := strings.Cut(rest, endMark)
	if !begins || !ends {
		t.Fatal("docs/spec.md has no place for the list")
	}
	entries := func(list string) []string {
		list = regexp.MustCompile(`\d[\d,]*`).ReplaceAllString(list, "n")
		return strings.Split(strings.Join(strings.Fields(list), " "), " - ")
	}
	if d := cmp.Diff(entries(searchesList(made)), entries(list)); d != "" {
		t.Errorf("run make spec ARGS=\"-write docs/spec.md\" (-the models, +the page):\n%s", d)
	}
}

func TestThePageIsWrittenBetweenItsMarks(t *testing.T) {
	page := t.TempDir() + "/page.md"
	before := "b\n" + searchesMark + "old\n" + endMark + "c\n"
	if err := os.WriteFile(page, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := parseModel("m", withSearch())
	if err != nil {
		t.Fatal(err)
	}
	made := []trial{{model: m, search: m.searches[0], found: found{result: violated, states: 1234567, seconds: 3}}}
	if err := writePage(page, made); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "b\n" + searchesMark +
		"\n`m.pml`:\n\n- mistakes, each found, after 1,234,567 to 1,234,567: `BUG_FAR`\n" + endMark + "c\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.WriteFile(page, []byte("no marks\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writePage(page, made); err == nil || !strings.Contains(err.Error(), `has no "<!-- searches -->"`) {
		t.Errorf("got %v for a page without marks", err)
	}
}
