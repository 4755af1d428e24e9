package workload

import (
	"fmt"
	"strings"
)

// Targets returns the locks that can be tested by name.
func Targets() []Target {
	return []Target{recipesTarget{}, zkLockTarget{}, naiveTarget{}, plainTarget{}}
}

// TargetNamed returns one of Targets.
func TargetNamed(name string) (Target, error) {
	var known []string
	for _, t := range Targets() {
		if t.Name() == name {
			return t, nil
		}
		known = append(known, t.Name())
	}
	return nil, fmt.Errorf("unknown target %q; known: %s", name, strings.Join(known, ", "))
}
