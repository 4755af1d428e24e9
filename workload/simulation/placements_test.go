package simulation

import (
	"slices"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// As the number grows, every placement of one act comes once, and no placement of two comes twice.
func TestPlacementsGoThroughAll(t *testing.T) {
	one, two := map[placement]bool{}, map[placement]bool{}
	for n := range placesOfOne(histories.Mutex, false) {
		one[placementOf(histories.Mutex, false, 2*n)] = true
		two[placementOf(histories.Mutex, false, 2*n+1)] = true
	}
	if all := int(placesOfOne(histories.Mutex, false)); len(one) != all || len(two) != all {
		t.Errorf("%d of one act, %d of two, of %d", len(one), len(two), all)
	}
}

// The runs of the plan carry out the placements of each recipe in turn, and tell which took place.
func TestEdgesActsAtMessagesOfSteps(t *testing.T) {
	s := spec(4, Edges, "recipes")
	s.Recipes = []string{"mutex", "readwrite"}
	for _, recipe := range []string{"mutex", "readwrite"} {
		o, _ := run(t, s, Look{})
		if !o.Passed() || len(o.Placements) == 0 {
			t.Errorf("%s: %s (%s), placements %v", recipe, o.Outcome, o.Reason, o.Placements)
		}
		all := map[string]bool{}
		for _, p := range o.Placements {
			all[p] = true
		}
		sums := searched(all, false)
		if slices.ContainsFunc(sums, func(of Searched) bool {
			return string(of.Recipe) != recipe || of.OneMade > of.One || of.TwoMade > of.Two
		}) {
			t.Errorf("%s: %v", recipe, sums)
		}
		s.Seed++
	}
}
