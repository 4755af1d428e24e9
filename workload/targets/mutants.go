package targets

import (
	"errors"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/mutants"
)

// HaveMutants reports whether this program has the mutants of the recipes. A program has them
// if it is built with the edits of package mutants, which set this constant: make build-mutants
// builds zkverify that way.
const HaveMutants = false

// ErrNoMutants is the error of Named, and of a mutant's Open, in a program without mutants.
var ErrNoMutants = errors.New("the mutants are in the program zkverify-mutants, which make build-mutants builds")

// switchedOn returns the options that switch a mutant's defect on; none for no name.
func switchedOn(defect string) ([]recipes.Option, error) {
	if defect == "" {
		return nil, nil
	}
	return nil, ErrNoMutants
}

// Mutant is the one recipe of package recipes that shows a deliberate defect.
type Mutant struct {
	ofRecipes
	mutants.Defect
}

func (m Mutant) Name() string        { return m.Defect.Name }
func (m Mutant) Recipe() string      { return string(m.Defect.Recipe) }
func (m Mutant) Description() string { return m.What + " (" + m.Bug + ")" }

// Mutants returns the mutants of the recipes, whether or not this program has them.
func Mutants() []Mutant {
	var all []Mutant
	for _, d := range mutants.Defects() {
		all = append(all, Mutant{ofRecipes{d.Name}, d})
	}
	return all
}
