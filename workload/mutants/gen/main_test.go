package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/workload/mutants"
)

func TestTheMutantsAreThoseOfTheRecipesAsTheyAre(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date: run go generate ./workload/mutants", path)
		}
	}
	have, err := generated(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range have {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := files[filepath.ToSlash(name)]; !ok {
			t.Errorf("%s is a left-over: run go generate ./workload/mutants", path)
		}
	}
}

func TestEditsOfOnePlaceDoNotDependOnEachOther(t *testing.T) {
	const text = "if free {\n\tgrant()\n}\n"
	first := edit{"f", "if free {", "if free || first {"}
	second := edit{"f", "if free {\n", "if free {\n\tsecond()\n"}
	third := edit{"f", "\tgrant()", "\tthird()\n\tgrant()"}
	const want = "if free || first {\n\tsecond()\n\tthird()\n\tgrant()\n}\n"
	for _, edits := range [][]edit{{first, second, third}, {second, third, first}} {
		if got, err := mutate("f", text, edits); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	again := edit{"f", "grant()", "refuse()"}
	for _, edits := range [][]edit{{again, again}, {again, {"f", "\tgrant()\n}", ""}}, {{"f", "()", ""}, {"f", "deny", ""}}} {
		if got, err := mutate("f", text, edits); err == nil {
			t.Errorf("%v: got %q", edits, got)
		}
	}
}

// A name that is not that of a mutant switches nothing on.
func TestEveryMutantHasItsEdits(t *testing.T) {
	name := regexp.MustCompile(`"mutant-[^"]*"`)
	edited := make(map[string]bool)
	for _, e := range edits {
		for _, quoted := range name.FindAllString(e.New, -1) {
			edited[strings.Trim(quoted, `"`)] = true
		}
	}
	for _, d := range mutants.Defects() {
		if !edited[d.Name] {
			t.Errorf("nothing is edited for %s", d.Name)
		}
		delete(edited, d.Name)
	}
	for name := range edited {
		t.Errorf("%s is not a mutant", name)
	}
}
