// Package drive is what the clients of a run do with each recipe, a file each, and the
// loop that they do it in.
package drive

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
)

// driver is how the clients of a run use the locks of one recipe. Each recipe
// has a file <recipe>.go with its driver.
type driver interface {
	// cycle uses the lock once, as planned. The error is one that the client
	// should rest after: not that of a wait that ended as planned.
	cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error
	// recover uses the lock once when every fault is healed, and tries until
	// it has or ctx ends.
	recover(ctx context.Context, c *client.Client, name string) bool
}

// trier is implemented by drivers of locks that can be tried. When the lock is free,
// try gets it.
type trier interface {
	try(ctx context.Context, c *client.Client, name string) bool
}

// settler is implemented by drivers of locks that must be settled when all clients
// are done with them, before what is left is counted.
type settler interface {
	settle(ctx context.Context, c *client.Client, name string)
}

// recipe is one that can be driven.
type recipe struct {
	Name        histories.Recipe
	Description string // one line

	// locks names and describes n locks for so many clients. Default: n
	// locks without a size, named after the recipe.
	locks func(n, clients int) ([]string, histories.Lock)
	// spares is how many locks it has besides that one client at a time uses.
	spares int
	// make makes its driver, of a group whose locks are known.
	make func(*client.Shared, cycle.Mix, *Group) driver
	// together says that clients need each other to recover: they do so when
	// they are done with all else.
	together bool
}

// Group is one recipe of a run, with its locks.
type Group struct {
	recipe
	driver driver
	names  []string
	spare  *spare // nil if it has none
	lock   histories.Lock
}

// all returns the locks of the recipe, those that one client at a time uses too.
func (g *Group) all() []string {
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

// spare are the locks of a recipe that one client at a time uses: when something may
// have been left at one, by a call that failed, they go on to the next.
type spare struct {
	locks  []string
	baton  chan struct{} // capacity 1: the client that has sent uses one of the locks, and what follows
	soiled int           // how often something may have been left at one
}

// newSpare makes n of them.
func newSpare(recipe histories.Recipe, n int) *spare {
	name := "spare-" + string(recipe)
	if recipe == histories.Mutex {
		name = "spare" // it is older than the other recipes'
	}
	return &spare{locks: numbered(name, n), baton: make(chan struct{}, 1)}
}
