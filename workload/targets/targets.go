// Package targets contains the locks that zkverify tests by name: those of package recipes,
// their mutants, ZooKeeper's stock Go lock, and three textbook locks. A file
// recipes_<recipe>.go adapts a recipe of package recipes to package lock, and recipes_locker.go
// the locks that differ only in how they are made.
package targets

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/lock"
)

// locks are the targets that are no mutants.
var locks = []lock.Target{recipesTarget{}, zkLockTarget{}, naiveTarget{}, plainTarget{}, plainTarget{listsOnce: true}}

// All returns the locks that can be tested by name, the mutants last: whether or not this
// program has them, see HaveMutants.
func All() []lock.Target {
	targets := slices.Clone(locks)
	for _, m := range Mutants() {
		targets = append(targets, m)
	}
	return targets
}

// Named returns the target of a name, one of All. The error wraps ErrNoMutants if it is a
// mutant, and this program has none.
func Named(name string) (lock.Target, error) {
	var known []string
	for _, t := range All() {
		if t.Name() == name {
			if _, mutant := t.(Mutant); mutant && !HaveMutants {
				return nil, fmt.Errorf("%s: %w", name, ErrNoMutants)
			}
			return t, nil
		}
		known = append(known, t.Name())
	}
	return nil, words.Unknown("target", name, known, words.Known(known[:len(locks)])+", and what zkverify list mutants names")
}

// connectBound is the largest number of attempts of a recipes client to connect in a fifth of a
// session timeout, or in 5 s: see recipes.Connect. It is above the number of attempts that
// backoff from 10 ms to a sixth of the session timeout makes.
const connectBound = 20

// repeatBound is the largest number of requests of a recipes client in that time that ask again what it
// has been told. Watches wake its waits: only evidence, and looks after a while or a failure, repeat.
const repeatBound = 100

// named returns ctx with the owner that an acquire is on record for, so that the recipe can
// show its owner; it returns ctx itself where the owner is not known.
func named(ctx context.Context, as func(context.Context, string) context.Context) context.Context {
	if owner := lock.OwnerOf(ctx); owner != "" {
		return as(ctx, owner)
	}
	return ctx
}
