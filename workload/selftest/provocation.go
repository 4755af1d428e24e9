package selftest

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/mutants"
)

// Provocation is a run that brings certain bugs to light.
type Provocation struct {
	Name string // short, for file names and --only
	What string // one line: the events in it
	// Config configures the run, without Ensemble, Network, Target, Recorder and Seed. A
	// SessionTimeout of 0 is the constant of that name. Of Workers only the number is set. The
	// faults are in its Schedule.
	Config workload.Config
	// Mutants are the names of the targets that it must show to be bad: mutants, or locks that
	// are known to be bad.
	Mutants []string
}

// HasMutants reports whether it needs a program with mutants (targets.HaveMutants).
func (p Provocation) HasMutants() bool {
	return slices.ContainsFunc(mutants.Defects(), func(d mutants.Defect) bool { return slices.Contains(p.Mutants, d.Name) })
}

// Recipe returns the recipe that the provocation drives.
func (p Provocation) Recipe() histories.Recipe {
	if len(p.Config.Recipes) == 0 {
		return histories.Mutex
	}
	return p.Config.Recipes[0]
}
