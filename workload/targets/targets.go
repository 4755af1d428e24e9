// Package targets has the locks that zkverify tests by name: those of package
// recipes, their mutants, ZooKeeper's stock Go lock, and three textbook locks. A file
// recipes_<recipe>.go adapts a recipe of package recipes to package lock; the files
// mutants*.go are generated from these.
package targets

import (
	"context"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/mutants"
)

// All returns the locks that can be tested by name, the mutants last.
func All() []lock.Target {
	targets := []lock.Target{recipesTarget{}, zkLockTarget{}, naiveTarget{}, plainTarget{}, plainListsOnceTarget{}}
	for _, m := range Mutants() {
		targets = append(targets, m)
	}
	return targets
}

// Mutant is a target with one deliberate defect.
type Mutant struct {
	lock.Target
	Guarantee string // name of the checker's guarantee that must catch it
}

// Concurrent says that they are as the recipes are.
func (Mutant) Concurrent() bool { return true }

// Mutants returns the mutants of the recipes.
func Mutants() []Mutant {
	var all []Mutant
	for _, d := range mutants.Defects() {
		all = append(all, Mutant{mutantTarget{d}, d.Guarantee})
	}
	return all
}

// Named returns the target of a name, one of All.
func Named(name string) (lock.Target, error) {
	var known, locks []string
	for _, t := range All() {
		if t.Name() == name {
			return t, nil
		}
		known = append(known, t.Name())
		if _, mutant := t.(Mutant); !mutant {
			locks = append(locks, t.Name())
		}
	}
	return nil, words.Unknown("target", name, known, words.Known(locks)+", and what zkverify list mutants names")
}

// connectBound is how often a client of the recipes tries to connect in a fifth of a
// session timeout, or in 5 s, at most: see recipes.Connect. It is above what
// backoff from 10 ms to a sixth of the session timeout comes to.
const connectBound = 20

// named returns ctx with the owner that an acquire is on record for, so that the
// recipe knows whom it serves; as it is where that is not known.
func named(ctx context.Context, as func(context.Context, string) context.Context) context.Context {
	if owner := lock.OwnerOf(ctx); owner != "" {
		return as(ctx, owner)
	}
	return ctx
}
