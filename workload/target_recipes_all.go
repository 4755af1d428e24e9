package workload

import "github.com/zkverify/zkverify/histories"

// What recipesTarget offers besides the mutex of target_recipes.go is in the
// files target_recipes_<recipe>.go.
var _ Collection = recipesTarget{}

// Recipes says that package recipes has these.
func (recipesTarget) Recipes() []histories.Recipe {
	return []histories.Recipe{
		histories.Mutex, histories.NonReentrant, histories.ReadWrite, histories.MultiLock, histories.Semaphore,
		histories.SharedSemaphore, histories.Revocation, histories.Handoff, histories.Barrier, histories.DoubleBarrier,
	}
}
