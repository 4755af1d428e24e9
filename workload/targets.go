package workload

import (
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/mutants"
)

// Targets returns the locks that can be tested by name, the mutants last.
func Targets() []Target {
	targets := []Target{recipesTarget{}, zkLockTarget{}, naiveTarget{}, plainTarget{}}
	for _, m := range Mutants() {
		targets = append(targets, m)
	}
	return targets
}

// Mutant is a target with one deliberate defect.
type Mutant struct {
	Target
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

// TargetNamed returns one of Targets.
func TargetNamed(name string) (Target, error) {
	var known, locks []string
	for _, t := range Targets() {
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
