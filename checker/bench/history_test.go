package main

import (
	"context"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func draw(s shape) *histories.History {
	h := &histories.History{Header: header()}
	for e := range history(s) {
		h.Events = append(h.Events, *e)
	}
	return h
}

// The drawn histories are those that the table names: so many operations, so many without an
// answer, valid, and violated only if intended.
func TestTheDrawnHistoriesAreWhatTheTableSays(t *testing.T) {
	for _, s := range []shape{{operations: 5_000}, {operations: 1}, broken} {
		h := draw(s)
		open, invoked := map[int]bool{}, 0
		for i := range h.Events {
			switch e := &h.Events[i]; e.Type {
			case histories.Invoke:
				invoked++
				open[e.Process] = true
			case histories.OK:
				delete(open, e.Process)
			}
		}
		lost := len(open)
		r, err := checker.Check(context.Background(), h)
		if err != nil {
			t.Fatal(err)
		}
		if extra := 2 * b2i(s.violated); invoked != s.operations+extra || lost < s.unanswered || lost > s.unanswered+clients {
			t.Errorf("%+v: %d operations, %d without an answer", s, invoked, lost)
		}
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			if want := s.violated && v.Guarantee == checker.MutualExclusion; (v.Outcome == verdict.Violated) != want {
				t.Errorf("%+v: %v", s, v)
			}
		}
	}
}

// A history of every recipe is valid, and every guarantee that it exercises holds.
func TestTheMixedHistoryIsOfEveryRecipe(t *testing.T) {
	h := &histories.History{Header: mixedHeader()}
	for e := range mixed(20_000) {
		h.Events = append(h.Events, *e)
	}
	r, err := checker.Check(context.Background(), h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Violated || v.Outcome == verdict.Unknown {
			t.Errorf("%v: %v", v, v.Witnesses)
		}
	}
	for _, g := range []string{checker.MutualExclusion, checker.ReadersAndWriters, checker.Permits, checker.AllOrNothing, checker.Revocation, checker.Barriers} {
		if v := r.Verdict(g); v.Outcome != verdict.Holds {
			t.Error(v)
		}
	}
	for _, u := range r.Recipes {
		if u.Operations < 1_000 {
			t.Errorf("%s was hardly used: %+v", u.Recipe, u)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestBadOptions(t *testing.T) {
	for _, args := range [][]string{{"-case", "99"}, {"-reps", "0"}, {"-one", "0:"}, {"-nothing"}} {
		var out, progress strings.Builder
		if err := run(context.Background(), args, &out, &progress); err == nil {
			t.Errorf("%v is taken: %s", args, out.String())
		}
	}
}
