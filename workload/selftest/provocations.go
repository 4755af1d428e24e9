package selftest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Provocations returns all provocations.
func Provocations() []Provocation {
	return slices.Concat(
		sessionProvocations(),
		linkProvocations(),
		evidenceProvocations(),
		mutexProvocations(),
		nonReentrantProvocations(),
		readWriteProvocations(),
		queueProvocations(),
		multiLockProvocations(),
		permitProvocations(),
		revocationProvocations(),
		barrierProvocations(),
		doubleBarrierProvocations(),
		oneClientProvocations(),
		handoffProvocations(),
		deletionProvocations(),
		momentProvocations(),
		extremeProvocations(),
		pauseProvocations(),
		electionProvocations(),
	)
}

// Select returns the provocations of the given recipes that only names, by their own name or by
// that of a mutant, each with no other mutants; empty lists mean all. The error lists the names
// that are possible.
func Select(only []string, of []histories.Recipe) ([]Provocation, error) {
	left := make(map[string]bool)
	for _, name := range only {
		left[name] = true
	}
	var out []Provocation
	var known, provocations []string
	for _, p := range Provocations() {
		provocations = append(provocations, p.Name)
		known = append(append(known, p.Name), p.Mutants...)
		for _, name := range append([]string{p.Name}, p.Mutants...) {
			delete(left, name)
		}
		if len(of) > 0 && !slices.Contains(of, p.Recipe()) {
			continue
		}
		if whole := slices.Contains(only, p.Name); len(only) > 0 && !whole {
			p.Mutants = slices.DeleteFunc(slices.Clone(p.Mutants), func(m string) bool { return !slices.Contains(only, m) })
			if len(p.Mutants) == 0 {
				continue
			}
		}
		out = append(out, p)
	}
	for _, name := range only {
		if left[name] {
			return nil, words.Unknown("mutant or provocation", name, known, "zkverify list mutants names the mutants, the provocations are: "+strings.Join(provocations, ", "))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no provocation of %s is named", of)
	}
	return out, nil
}
