// Package drive implements the cycles of a run's clients with each recipe, one recipe a file,
// and the loop of these cycles.
package drive

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
)

// driver uses the locks of one recipe for the clients of a run. Each recipe has a file
// <recipe>.go with its driver.
type driver interface {
	// cycle uses the lock once, as planned. It returns an error if the client should rest
	// afterwards: none for a wait that ended as planned.
	cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error
	// recover uses the lock once when every fault is healed, and tries until it has used the
	// lock or ctx ends.
	recover(ctx context.Context, c *client.Client, name string) bool
}

// trier is implemented by drivers of locks that can be tried. When the lock is free,
// try gets it.
type trier interface {
	try(ctx context.Context, c *client.Client, name string) bool
}

// settler is implemented by drivers of locks that must be settled when all clients are done
// with them, before nodes and watches are counted.
type settler interface {
	settle(ctx context.Context, c *client.Client, name string)
}

// recipe describes a recipe that can be driven.
type recipe struct {
	Name        histories.Recipe
	Description string // one line

	// locks names and describes n locks for so many clients. Default: n
	// locks without a size, named after the recipe.
	locks func(n, clients int) ([]string, histories.Lock)
	// spares is the number of additional locks that only one client at a time uses.
	spares int
	// mixes says that its locks are acquired together with one of recipe NonReentrant, where the
	// target allows it.
	mixes bool
	// make makes the driver of a group whose locks are known.
	make func(*client.Shared, cycle.Mix, *Group) driver
	// together says that clients need each other to recover: they recover at this recipe when
	// they are done with all others.
	together bool
}

// Group is one recipe of a run, with its locks.
type Group struct {
	recipe
	driver driver
	names  []string
	spare  *spare // nil if it has none
	mixed  string // a lock of recipe NonReentrant that is acquired with the others; "" if there is none
	lock   histories.Lock
}

// all returns the locks of the group, with its spare ones and the one that is mixed with them.
func (g *Group) all() []string {
	all := slices.Clip(g.names)
	if g.spare != nil {
		all = append(all, g.spare.locks...)
	}
	if g.mixed != "" {
		all = append(all, g.mixed)
	}
	return all
}

// numbered returns n keys of locks, which are the names of their nodes too.
func numbered(name string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%d", name, i))
	}
	return out
}

// spare holds the locks of a recipe that only one client at a time uses: when a call that
// failed may have left a node at one of them, the clients go on to the next.
type spare struct {
	locks  []string
	baton  chan struct{} // capacity 1: its sender uses one of the locks, and soiled
	soiled int           // how often a call may have left a node at one of them
}

// newSpare makes n spare locks of a recipe.
func newSpare(recipe histories.Recipe, n int) *spare {
	name := "spare-" + string(recipe)
	if recipe == histories.Mutex {
		name = "spare" // it is older than the other recipes'
	}
	return &spare{locks: numbered(name, n), baton: make(chan struct{}, 1)}
}
