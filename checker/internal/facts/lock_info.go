package facts

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// LockInfo is what is known of a lock.
type LockInfo struct {
	lock       string
	at         int // in order of appearance
	recipe     histories.Recipe
	Operations int     // invoked
	Got        int     // times that it was acquired, or a barrier passed
	touched    bool    // something happened in this window
	holds      []*Hold // of this window, if it is touched
}

// Every is of every recipe.
func Every(histories.Recipe) bool { return true }

// Is returns whether a recipe is one of some.
func Is(some ...histories.Recipe) func(histories.Recipe) bool {
	return func(r histories.Recipe) bool { return slices.Contains(some, r) }
}
