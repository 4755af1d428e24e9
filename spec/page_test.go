package spec

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/internal/words"
)

// listIn returns the lines of the list after a mark of docs/spec.md.
func listIn(t *testing.T, mark string) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), mark)
	list, _, closed := strings.Cut(rest, endMark)
	if !found || !closed {
		t.Fatalf("docs/spec.md has no place for the list after %s", mark)
	}
	return strings.Split(strings.TrimSpace(list), "\n")
}

func TestThePageHasTheSwitchesAndSearchesOfTheModels(t *testing.T) {
	const again = `run make spec ARGS="-write docs/spec.md"`
	all, err := models()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := listIn(t, switchesMark), strings.Split(strings.TrimSpace(switchesList(all)), "\n"); !slices.Equal(got, want) {
		t.Errorf("the list of switches is not up to date: %s", again)
	}
	entries := strings.Split(strings.Join(listIn(t, searchesMark), "\n"), "\n- ")
	rows := entries[1:] // after the name of the first model
	next := func(about, want string) {
		if len(rows) == 0 {
			t.Fatalf("the list ends before %s: %s", about, again)
		}
		row := rows[0]
		rows = rows[1:]
		if !strings.HasPrefix(strings.Join(strings.Fields(row), " "), want) {
			t.Errorf("the entry of %s is not up to date: %s\n%s\nbegins otherwise than %s", about, again, row, want)
		}
	}
	for _, m := range all {
		mistakes := 0
		for _, s := range m.searches {
			if s.mistake() {
				mistakes++
				continue
			}
			next(s.String(), fmt.Sprintf("%s: %s, ", s.name, s.want))
		}
		if mistakes > 0 {
			next(m.name, words.Count(mistakes, "search")+" for mistakes: ")
		}
	}
	if len(rows) > 0 {
		t.Errorf("the list has %d searches that are gone: %s", len(rows), again)
	}
}

func TestThePageIsWrittenBetweenItsMarks(t *testing.T) {
	page := t.TempDir() + "/page.md"
	before := "a\n" + switchesMark + "old\n" + endMark + "b\n" + searchesMark + endMark + "c\n"
	if err := os.WriteFile(page, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := parseModel("m", withSearch())
	if err != nil {
		t.Fatal(err)
	}
	made := []trial{{model: m, search: m.searches[0], found: found{result: violated, states: 1234567, seconds: 3}}}
	if err := writePage(page, []*model{m}, made); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "a\n" + switchesMark + switchesList([]*model{m}) + endMark + "b\n" + searchesMark +
		"\n`m.pml`:\n\n- 1 search for mistakes: each found, after 1,234,567 to 1,234,567\n" + endMark + "c\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.WriteFile(page, []byte("no marks\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writePage(page, []*model{m}, made); err == nil || !strings.Contains(err.Error(), `has no "<!-- switches -->"`) {
		t.Errorf("got %v for a page without marks", err)
	}
}
