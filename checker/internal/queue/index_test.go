package queue

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// TestTheIndexOfAQueueFindsWhatAScanFinds judges the wake-ups of histories twice: with the index
// from the first waiter on, and without it, by a visit of every waiter.
func TestTheIndexOfAQueueFindsWhatAScanFinds(t *testing.T) {
	defer func(few int) { fewUsers = few }(fewUsers)
	for _, f := range drawn.Families {
		if !slices.ContainsFunc(f.Recipes, histories.Recipe.IsLock) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			drawns, accused := 0, 0
			drawn.Checks(t, 5_000, func(t *rapid.T) {
				h := drawn.History(t, f.Recipes...)
				h.Header.Promises.TurnBound = 4
				fewUsers = math.MaxInt
				scanned := turnsIn(h)
				fewUsers = 0
				if indexed := turnsIn(h); !slices.Equal(scanned, indexed) {
					t.Fatalf("a scan finds\n%q\nand the index\n%q\nin\n%s", scanned, indexed, drawn.Text(h))
				}
				if drawns++; len(scanned) > 1 {
					accused++
				}
			})
			t.Logf("%d of %d histories have a late turn", accused, drawns)
			if drawns >= 3000 && accused < drawns/100 {
				t.Error("too few to compare")
			}
		})
	}
}

// turnsIn returns the turns that took too long, the accusations, and the wake-ups in time.
func turnsIn(h *histories.History) []string {
	tr := facts.Begin(h.Header)
	j := NewProgress(tr, verdict.New("progress", true)).(*progressJudge)
	tr.Read(h)
	var all []string
	for _, late := range j.wakes.late {
		all = append(all, fmt.Sprint("late: ", late.Invoke, late.told, late.from, late.gave != nil))
	}
	for _, w := range j.wakes.missed() {
		all = append(all, w().What)
	}
	return append(all, fmt.Sprint(j.wakes.judged, " in time, ", j.wakes.longest))
}
