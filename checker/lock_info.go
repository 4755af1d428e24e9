package checker

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// lockInfo is what is known of a lock.
type lockInfo struct {
	recipe     histories.Recipe
	operations int     // invoked
	got        int     // times that it was acquired, or a barrier passed
	holds      []*hold // of this window
}

// every is of every recipe.
func every(histories.Recipe) bool { return true }

// is returns whether a recipe is one of some.
func is(some ...histories.Recipe) func(histories.Recipe) bool {
	return func(r histories.Recipe) bool { return slices.Contains(some, r) }
}
