package facts

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// LockInfo is what is known of a lock.
type LockInfo struct {
	recipe     histories.Recipe
	Operations int     // invoked
	Got        int     // times that it was acquired, or a barrier passed
	holds      []*Hold // of this window
}

// Every is of every recipe.
func Every(histories.Recipe) bool { return true }

// Is returns whether a recipe is one of some.
func Is(some ...histories.Recipe) func(histories.Recipe) bool {
	return func(r histories.Recipe) bool { return slices.Contains(some, r) }
}
