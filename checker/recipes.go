package checker

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// every is of every recipe.
func every(histories.Recipe) bool { return true }

// is returns whether a recipe is one of some.
func is(some ...histories.Recipe) func(histories.Recipe) bool {
	return func(r histories.Recipe) bool { return slices.Contains(some, r) }
}

func (t *trace) recipe(lock string) histories.Recipe { return t.header.RecipeOf(lock) }

// recipes returns those of the run, in their order.
func (t *trace) recipes() []histories.Recipe {
	seen := map[histories.Recipe]bool{}
	for lock := range t.header.Locks {
		seen[t.recipe(lock)] = true
	}
	if len(seen) == 0 {
		seen[t.recipe("")] = true // one for all
	}
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !seen[r] })
}

// of returns the locks of some recipes.
func (t *trace) of(some func(histories.Recipe) bool) []string {
	return slices.DeleteFunc(slices.Clone(t.locks), func(lock string) bool { return !some(t.recipe(lock)) })
}

// holdsOf returns their holds.
func (t *trace) holdsOf(some func(histories.Recipe) bool) []*hold {
	return slices.DeleteFunc(slices.Clone(t.holds), func(h *hold) bool { return !some(t.recipe(h.lock)) })
}

// exclusive returns the locks that have one holder at a time.
func (t *trace) exclusive() []string { return t.of(histories.Recipe.Exclusive) }

// exclusiveHolds returns their holds.
func (t *trace) exclusiveHolds() []*hold { return t.holdsOf(histories.Recipe.Exclusive) }

// RecipeUse says how much one recipe was used.
type RecipeUse struct {
	Recipe     histories.Recipe `json:"recipe"`
	Locks      int              `json:"locks"`
	Operations int              `json:"operations"`
	Got        int              `json:"got"`     // times that a lock was acquired, or a barrier passed
	Held       int              `json:"held"`    // leases held when a fault began that hit their holder
	Awaited    int              `json:"awaited"` // acquires, and waits at a barrier, under way when such a fault began
}

// uses returns how much each recipe of the run was used.
func (t *trace) uses() []RecipeUse {
	for _, lock := range t.locks {
		t.tally.uses[t.recipe(lock)].Locks++
	}
	var out []RecipeUse
	for _, r := range t.recipes() {
		out = append(out, *t.tally.uses[r])
	}
	return out
}
