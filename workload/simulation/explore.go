package simulation

import (
	"math/rand/v2"
	"slices"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
)

// explores is the plan whose runs have the faults and recipes that the sweep has met least.
const explores = "explore"

// The most cells and recipes of a run of the plan explore: with fewer faults and recipes each
// comes more often.
const (
	exploredCells   = 12
	exploredRecipes = 3
)

// Explore returns the Spec of a run of the plan explore, chosen by the coverage of the sweep so
// far: it names faults and recipes where the asked Spec leaves them open ("all"). The Spec that
// it returns decides the run. For any other plan it returns the asked Spec.
//
// It draws cells of the coverage or, in one run of two, a situation, the more likely the less often
// they were met. It also counts the runs in which a cell might have been met, and those that looked
// for a situation: what no run can meet must not take every run.
func (s *Sweep) Explore(asked Spec) Spec {
	openRecipes := len(asked.Recipes) > 0 && asked.Recipes[0] == "all"
	openFaults := asked.allFaults() && asked.Schedule == nil
	if asked.Plan != explores || !openRecipes && !openFaults {
		return asked
	}
	all := &PlanCoverage{tries: map[[2]string]int{}}
	for _, p := range s.plans {
		all.Add(p.CoverageSum)
		for fault, n := range p.tries {
			all.tries[fault] += n
		}
	}
	kinds, recipes := asked.cells()
	r := rand.New(rand.NewPCG(uint64(asked.Seed), 0x6578706c6f7265))
	if r.IntN(2) == 0 && len(recipes) > 0 {
		if sought := s.seek(r, all.Situations, kinds, recipes); sought != nil {
			return s.lookFor(sought, asked, openFaults, openRecipes, kinds, recipes, r)
		}
	}
	all.Expect(kinds, recipes)
	cells := all.draw(r, kinds, recipes)
	spec := asked
	var chosen []string
	if openFaults {
		spec.Faults = nil
		for _, k := range kinds {
			if slices.ContainsFunc(cells, func(c cell) bool { return c.Fault == k }) {
				spec.Faults = append(spec.Faults, k)
			}
		}
		chosen = append(chosen, "faults")
	}
	if openRecipes {
		spec.Recipes = nil
		for _, r := range recipes {
			if slices.ContainsFunc(cells, func(c cell) bool { return c.Recipe == r }) {
				spec.Recipes = append(spec.Recipes, string(r))
			}
		}
		chosen = append(chosen, "recipes")
	}
	if len(cells) == 0 {
		return asked
	}
	s.chosen[runName(spec)] = choice{parts: chosen}
	return spec
}

// choice holds the parts of a Spec that a sweep has chosen.
type choice struct {
	parts  []string // see Outcome.Chosen
	sought string   // see Outcome.Sought
}

// cell is one cell of the coverage.
type cell struct {
	checker.Unmet
	weight float64
}

// draw draws different cells of these faults and recipes.
func (p *PlanCoverage) draw(r *rand.Rand, kinds []string, recipes []histories.Recipe) (drawn []cell) {
	var left []cell
	for _, row := range p.Meetings {
		if !slices.Contains(kinds, row.Fault) || !slices.Contains(recipes, row.Recipe) {
			continue
		}
		tries := p.tries[[2]string{row.Fault, string(row.Recipe)}]
		for _, state := range checker.States() {
			if n, can := row.Met[state]; can {
				left = append(left, cell{checker.Unmet{Fault: row.Fault, Recipe: row.Recipe, State: state}, 1 / float64((1+n+tries)*(1+n+tries))})
			}
		}
	}
	for len(left) > 0 && len(drawn) < exploredCells {
		sum := 0.0
		for _, c := range left {
			sum += c.weight
		}
		at, i := r.Float64()*sum, 0
		for ; i < len(left)-1 && at >= left[i].weight; i++ {
			at -= left[i].weight
		}
		drawn = append(drawn, left[i])
		left = slices.Delete(left, i, i+1)
		if of := recipesOf(drawn); len(of) == exploredRecipes {
			left = slices.DeleteFunc(left, func(c cell) bool { return !slices.Contains(of, c.Recipe) })
		}
	}
	return drawn
}

func recipesOf(cells []cell) (all []histories.Recipe) {
	for _, c := range cells {
		if !slices.Contains(all, c.Recipe) {
			all = append(all, c.Recipe)
		}
	}
	return all
}

// askedName returns the name of the Spec that was asked for when a run was chosen.
func askedName(s Spec, chosen []string) string {
	if slices.Contains(chosen, "plan") {
		s.Plan = explores
	}
	if slices.Contains(chosen, "faults") || s.Plan == explores && s.allFaults() {
		s.Faults = []string{"all"}
	}
	if slices.Contains(chosen, "recipes") {
		s.Recipes = []string{"all"}
	}
	return runName(s)
}

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
