package field

import (
	"fmt"
	"slices"
	"testing"
)

// Of each explanation and library the run with the most violations is repeated, once for all
// that it violates, and not again when that was done.
func TestTheRunsWithTheMostViolationsAreRepeated(t *testing.T) {
	f := builtInField(t)
	f.Explanations = []Explanation{
		{ID: "two", Locks: []string{"*"}, Guarantees: []string{"mutual exclusion"}},
		{ID: "lost", Locks: []string{"*"}, Guarantees: []string{"fencing"}},
	}
	locks := f.Locks()
	var one, other string // of two libraries
	for _, l := range locks {
		switch {
		case one == "":
			one = l.id
		case other == "" && l.Library != locks[0].Library:
			other = l.id
		}
	}
	few, many, rare := violatedWith("mutual exclusion", 3), violatedWith("mutual exclusion", 90), violatedWith("fencing", 5)
	few.Violations, many.Violations, rare.Violations = 2, 40, 1
	s := &State{Results: []Result{
		ofLock(one, "a", 1, few),
		ofLock(one, "a", 2, many, rare),
		ofLock(other, "a", 1, few),
	}}
	names := func(c Again) (all []string) {
		for _, r := range c.surest(f, s) {
			all = append(all, fmt.Sprint(r.Lock, " ", r.Seed))
		}
		slices.Sort(all)
		return all
	}
	want := []string{one + " 2", other + " 1"}
	slices.Sort(want)
	if got := names(Again{Times: 10}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Results[1].Again = []Repeats{{Guarantee: "mutual exclusion", Came: 9, Of: 10}}
	if got := names(Again{Times: 10}); !slices.Equal(got, []string{other + " 1"}) {
		t.Errorf("%q, but %s was repeated already", got, one)
	}
	// What is shown is the one that came back, though it is longer.
	r, v := s.shown(func(r *Result, v Verdict) bool { return r.Lock == one && v.Guarantee == "mutual exclusion" })
	if r.Seed != 2 || v.Events != 90 {
		t.Errorf("seed %d with %d events is shown", r.Seed, v.Events)
	}
}
