package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// edit replaces Old, which must stand exactly once in File, a path below the recipes,
// by New.
type edit struct{ File, Old, New string }

// change is what an edit comes down to: what Old and New have in common at their
// ends stays.
type change struct {
	from, to int // in the text
	by       string
}

// mutate carries out all edits of one file. Each is looked for in the text as it
// was, whatever the others do, so that mutants do not depend on each other: they
// may be built into one line, as long as no two change the same characters. What
// several put in at one place comes in the order of the edits.
func mutate(file, text string, edits []edit) (string, error) {
	var changes []change
	for _, e := range edits {
		if e.File != file {
			continue
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return "", fmt.Errorf("%s has %d times, not once:\n%s", file, n, e.Old)
		}
		changes = append(changes, e.change(strings.Index(text, e.Old)))
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	done := 0
	for _, c := range changes {
		if c.from < done {
			return "", fmt.Errorf("%s: two edits of one place; one of them puts in:\n%s", file, c.by)
		}
		out.WriteString(text[done:c.from] + c.by)
		done = c.to
	}
	return out.String() + text[done:], nil
}

func (e edit) change(at int) change {
	before := 0
	for before < min(len(e.Old), len(e.New)) && e.Old[before] == e.New[before] {
		before++
	}
	after := 0
	for after < min(len(e.Old), len(e.New))-before && e.Old[len(e.Old)-1-after] == e.New[len(e.New)-1-after] {
		after++
	}
	return change{at + before, at + len(e.Old) - after, e.New[before : len(e.New)-after]}
}
