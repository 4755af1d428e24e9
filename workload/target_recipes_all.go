package workload

import (
	"path"

	"github.com/zkverify/zkverify/histories"
)

// What recipesTarget offers besides the mutex of target_recipes.go is in the
// files target_recipes_<recipe>.go.
var _ Collection = recipesTarget{}

// Recipes says that package recipes has these.
func (recipesTarget) Recipes() []histories.Recipe {
	return []histories.Recipe{
		histories.Mutex, histories.ReadWrite, histories.Revocation, histories.Barrier, histories.DoubleBarrier,
	}
}

// path is where a lock lives.
func (c *recipesClient) path(lock string) string { return path.Join(c.env.Root, lock) }
