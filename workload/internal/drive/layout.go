package drive

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// Recipes returns the recipes that can be driven, in the order of histories.Recipes.
func Recipes() []recipe {
	return []recipe{
		mutexRecipe, nonReentrantRecipe, readWriteRecipe, multiLockRecipe, semaphoreRecipe, sharedSemaphoreRecipe,
		revocationRecipe, handoffRecipe, electionRecipe, barrierRecipe, doubleBarrierRecipe,
	}
}

// LayOut names n locks of each of the chosen recipes, for so many clients of a target that mixes
// locks or not. Their drivers are made when the run begins.
func LayOut(chosen []histories.Recipe, n, clients int, mixes bool) []*Group {
	var out []*Group
	for _, info := range Recipes() {
		if !slices.Contains(chosen, info.Name) {
			continue
		}
		g := &Group{recipe: info, lock: histories.Lock{Recipe: info.Name}}
		if info.locks != nil {
			g.names, g.lock = info.locks(n, clients)
		} else {
			g.names = numbered(string(info.Name), n)
		}
		if info.spares > 0 {
			g.spare = newSpare(info.Name, info.spares)
		}
		if info.mixes && mixes {
			g.mixed = "mixed-" + string(info.Name)
		}
		out = append(out, g)
	}
	return out
}

// LockTable returns the locks of a run by key, for the history's header.
func LockTable(groups []*Group) map[string]histories.Lock {
	table := make(map[string]histories.Lock)
	for _, g := range groups {
		for _, name := range g.all() {
			table[name] = g.lock
			if name == g.mixed {
				table[name] = histories.Lock{Recipe: histories.NonReentrant}
			}
		}
	}
	return table
}
