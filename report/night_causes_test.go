package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestFailuresOfANightAreGroupedByTheirCause(t *testing.T) {
	failed := func(seed int64, cause string, guarantees ...string) NightResult {
		r := NightResult{Seed: seed, Outcome: verdict.Violated, Reason: "why"}
		for _, g := range guarantees {
			r.Cases = append(r.Cases, Case{Recipe: "mutex", Guarantee: g, Outcome: verdict.Violated, Expected: true, Cause: cause})
		}
		return r
	}
	day := func(n int) time.Time { return time.Date(2026, 1, n, 3, 0, 0, 0, time.UTC) }
	night := func(day time.Time, results ...NightResult) *Night {
		return &Night{Title: "x", Started: day, First: 1, Seeds: len(results), Results: results}
	}
	held := func(seed int64) NightResult { return NightResult{Seed: seed, Outcome: verdict.Holds} }
	first := night(day(1), failed(1, "deaf", "mutual exclusion"), failed(2, "", "progress"))
	second := night(day(2), failed(1, "deaf", "mutual exclusion"), held(2))
	third := night(day(3), failed(1, "early", "first node"), failed(2, "deaf", "mutual exclusion", "loss is told"), failed(3, "deaf", "mutual exclusion"))
	for i, n := range []*Night{second, third} {
		if err := n.Compare([]*Night{first, second}[i]); err != nil {
			t.Fatal(err)
		}
	}
	const (
		deaf  = "deaf: 2 of 3 runs: seeds 2, 3; breaks mutual exclusion; loss is told; still there, since the night of 2026-01-01 03:00"
		early = "early: 1 of 3 runs: seed 1; breaks first node; new"
		gone  = "progress: violated: none; gone, last seen in the night of 2026-01-01 03:00"
	)
	for n, want := range map[*Night][]string{
		first:  {"deaf: 1 of 2 runs: seed 1; breaks mutual exclusion\n", "progress: violated: 1 of 2 runs: seed 2\n"},
		second: {gone},
		third:  {deaf + "\n" + early},
	} {
		for _, text := range want {
			if got := n.Summary("d"); !strings.Contains(got, text) {
				t.Errorf("%q is not in\n%s", text, got)
			}
			for line := range strings.Lines(text) {
				if got := n.Markdown("d"); !strings.Contains(got, "- "+strings.TrimSpace(line)) {
					t.Errorf("%q is not in\n%s", line, got)
				}
			}
		}
	}
	var page bytes.Buffer
	if err := third.WriteHTML(&page); err != nil || !strings.Contains(page.String(), "<td>still there, since the night of 2026-01-01 03:00</td>") {
		t.Errorf("%v:\n%s", err, &page)
	}
	// What an unfinished night has not shown is not gone.
	second.Seeds++
	if got := second.Summary("d"); !strings.Contains(got, "progress: violated: none; not seen yet: not all runs are made") {
		t.Error(got)
	}
	other := night(day(4))
	other.Title = "y"
	if other.Compare(third) == nil {
		t.Error("nights of two targets are compared")
	}
}

func TestACaseOfJUnitBeginsWithTheCause(t *testing.T) {
	causes := []verdict.Cause{{What: verdict.NotTold, Count: 2}}
	all := []verdict.Verdict{
		{Guarantee: "mutual exclusion", Outcome: verdict.Violated, Violations: 2, Causes: causes, Witnesses: []verdict.Witness{{What: "it broke"}}},
		{Guarantee: "loss is told", Outcome: verdict.Violated, Violations: 1, Causes: causes, Reason: "1 of 3 holders"},
	}
	c := caseOf(new(histories.Header), histories.Mutex, &all[0], all)
	want := "cause: " + verdict.NotTold + "\nthe same cause: loss is told, violated once: 1 of 3 holders\nit broke. No fault was active."
	if got := c.junit("x").Detail; got != want {
		t.Errorf("%q", got)
	}
}
