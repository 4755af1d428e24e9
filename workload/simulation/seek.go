package simulation

import (
	"math/rand/v2"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
)

// seek draws a situation that these faults can bring about with one of these recipes, by how often
// each has occurred and how many runs have looked for it. It returns nil if there is none.
func (s *Sweep) seek(r *rand.Rand, occurred situations.Counts, kinds []string, recipes []histories.Recipe) *situations.Situation {
	all := slices.DeleteFunc(situations.All(), func(s situations.Situation) bool {
		return !s.Of(recipes) || len(s.Faults) > 0 && len(both(s.Faults, kinds)) == 0
	})
	sum, weights := 0.0, make([]float64, len(all))
	for i := range all {
		n := float64(1+occurred[all[i].Name]) * float64(1+s.sought[all[i].Name])
		weights[i] = 1 / (n * n)
		sum += weights[i]
	}
	at := r.Float64() * sum
	for i := range all {
		if at -= weights[i]; at < 0 || i == len(all)-1 {
			return &all[i]
		}
	}
	return nil
}

// lookFor returns the Spec of a run that looks for a situation: with one of its recipes, and with
// its faults, or by the plan edges.
func (s *Sweep) lookFor(sought *situations.Situation, asked Spec, openFaults, openRecipes bool, kinds []string, recipes []histories.Recipe, r *rand.Rand) Spec {
	spec := asked
	var chosen []string
	if openRecipes {
		its := recipes
		if sought.Recipes != nil {
			its = both(recipes, sought.Recipes)
		}
		spec.Recipes, chosen = []string{string(its[r.IntN(len(its))])}, append(chosen, "recipes")
	}
	switch {
	case !openFaults:
	case sought.AtMessages && r.IntN(2) == 0:
		spec.Plan, chosen = Edges, append(chosen, "plan")
	case len(sought.Faults) > 0:
		spec.Faults, chosen = both(kinds, sought.Faults), append(chosen, "faults")
	default: // named, so that the run can be asked for again
		spec.Faults, chosen = kinds, append(chosen, "faults")
	}
	s.chosen[runName(spec)] = choice{chosen, sought.Name}
	return spec
}

// both returns the elements of a that b has too.
func both[E comparable](a, b []E) (all []E) {
	for _, x := range a {
		if slices.Contains(b, x) {
			all = append(all, x)
		}
	}
	return all
}
