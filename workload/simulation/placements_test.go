package simulation

import (
	"slices"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// As the number grows, every placement of one act comes once, and no placement of two comes twice.
func TestPlacementsGoThroughAll(t *testing.T) {
	one, near, two := map[placement]bool{}, map[placement]bool{}, map[placement]bool{}
	for n := range placesOfOne(histories.Mutex, false) {
		one[placementOf(histories.Mutex, false, sorts*n)] = true
		near[placementOf(histories.Mutex, false, sorts*n+1)] = true
		two[placementOf(histories.Mutex, false, sorts*n+2)] = true
	}
	if all := int(placesOfOne(histories.Mutex, false)); len(one) != all || len(near) != all || len(two) != all {
		t.Errorf("%d of one act, %d and %d of two, of %d", len(one), len(near), len(two), all)
	}
}

// As many consecutive strikes as a Searched tells try every placement of the recipe.
func TestASearchThatIsOverHasTriedAll(t *testing.T) {
	tried, strikes := map[string]bool{}, strikesOfAll(histories.Barrier, true)
	for n := range strikes {
		tried[placementText(histories.Barrier, placementOf(histories.Barrier, true, n).params())] = n%2 == 0
	}
	sums := searched(tried, true)
	if len(sums) != len(stepsOf(histories.Barrier)) {
		t.Errorf("%d steps", len(sums))
	}
	for _, of := range sums {
		if of.Strikes != strikes || of.One.Tried != of.One.All || of.Near.Tried != of.Near.All || of.Near.All == 0 || of.Two.Tried != of.Two.All || of.Two.Made == 0 || of.Two.Made == of.Two.All {
			t.Errorf("%v", of)
		}
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
		sums := searched(o.Placements, false)
		if slices.ContainsFunc(sums, func(of Searched) bool {
			return string(of.Recipe) != recipe || of.One.Made > of.One.Tried || of.One.Tried > of.One.All || of.Two.Made > of.Two.Tried || of.Two.Tried > of.Two.All
		}) {
			t.Errorf("%s: %v", recipe, sums)
		}
		s.Seed++
	}
}
