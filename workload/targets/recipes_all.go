package targets

import (
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// What recipesTarget offers besides the mutex of recipes.go is in the
// files recipes_<recipe>.go.
var _ lock.Collection = recipesTarget{}

// Recipes says that package recipes has them all.
func (recipesTarget) Recipes() []histories.Recipe { return histories.Recipes() }
