package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/lock"
)

// driver is how the clients of a run use the locks of one recipe. Each recipe
// has a file drive_<recipe>.go with its driver, and with the interface that a
// target's client implements to offer it.
type driver interface {
	// cycle uses the lock once, as planned. The error is one that the client
	// should rest after: not that of a wait that ended as planned.
	cycle(ctx context.Context, c *client, name string, plan cycle) error
	// recover uses the lock once when every fault is healed, and tries until
	// it has or ctx ends.
	recover(ctx context.Context, c *client, name string) bool
}

// trier is implemented by drivers of locks that can be tried. When nobody is
// in the way, try gets the lock.
type trier interface {
	try(ctx context.Context, c *client, name string) bool
}

// settler is implemented by drivers of locks that must be settled when all clients
// are done with them, before what is left is counted.
type settler interface {
	settle(ctx context.Context, c *client, name string)
}

// RecipeInfo describes one recipe that can be driven.
type RecipeInfo struct {
	Recipe      histories.Recipe
	Description string // one line

	// locks names and describes n locks for so many clients. Default: n
	// locks without a size, named after the recipe.
	locks func(n, clients int) ([]string, histories.Lock)
	// spares is how many locks it has besides that one client at a time uses.
	spares int
	make   func(*run) driver
	// together says that clients need each other to recover: they do so when
	// they are done with all else.
	together bool
}

// Recipes returns what can be driven, in the order of histories.Recipes.
func Recipes() []RecipeInfo {
	return []RecipeInfo{
		mutexRecipe, nonReentrantRecipe, readWriteRecipe, multiLockRecipe, semaphoreRecipe, sharedSemaphoreRecipe,
		revocationRecipe, handoffRecipe, barrierRecipe, doubleBarrierRecipe,
	}
}

// SelectRecipes returns the recipes of a target that the names mean, "all"
// being all that it offers. The error says which can be meant.
func SelectRecipes(t lock.Target, names []string) ([]histories.Recipe, error) {
	offers := lock.RecipesOf(t)
	if len(names) == 0 {
		return []histories.Recipe{histories.Recipe(t.Recipe())}, nil
	}
	if slices.Contains(names, "all") {
		return offers, nil
	}
	wanted := make(map[histories.Recipe]bool)
	for _, name := range names {
		r := histories.Recipe(name)
		if !slices.Contains(histories.Recipes(), r) {
			return nil, UnknownRecipe(name)
		}
		if !slices.Contains(offers, r) {
			return nil, fmt.Errorf("target %s does not offer %s, but %s", t.Name(), r, joined(offers))
		}
		wanted[r] = true
	}
	return slices.DeleteFunc(offers, func(r histories.Recipe) bool { return !wanted[r] }), nil
}

// UnknownRecipe refuses the name of a recipe.
func UnknownRecipe(name string) error {
	known := []string{"all"}
	for _, r := range histories.Recipes() {
		known = append(known, string(r))
	}
	return words.Unknown("recipe", name, known, words.Known(known))
}

func joined(recipes []histories.Recipe) string {
	var names []string
	for _, r := range recipes {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// group is one recipe of a run, with its locks.
type group struct {
	RecipeInfo
	driver driver
	names  []string
	spare  *spare // nil if it has none
	lock   histories.Lock
}

// groups lays out the locks of a run. Their drivers are made when it begins.
func (c Config) groups() []*group {
	var out []*group
	for _, info := range Recipes() {
		if !slices.Contains(c.Recipes, info.Recipe) {
			continue
		}
		g := &group{RecipeInfo: info, lock: histories.Lock{Recipe: info.Recipe}}
		if info.locks != nil {
			g.names, g.lock = info.locks(c.Locks, c.Clients)
		} else {
			g.names = numbered(string(info.Recipe), c.Locks)
		}
		if info.spares > 0 {
			g.spare = newSpare(info.Recipe, info.spares)
		}
		out = append(out, g)
	}
	return out
}

// all returns the locks of the recipe, those that one client at a time uses too.
func (g *group) all() []string {
	if g.spare == nil {
		return g.names
	}
	return append(slices.Clip(g.names), g.spare.locks...)
}

// numbered returns n keys of locks, which are the names of their nodes too.
func numbered(name string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%d", name, i))
	}
	return out
}

// lockTable is the locks of a run by key, for the history's header.
func lockTable(groups []*group) map[string]histories.Lock {
	table := make(map[string]histories.Lock)
	for _, g := range groups {
		for _, name := range g.all() {
			table[name] = g.lock
		}
	}
	return table
}
