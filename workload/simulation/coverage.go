package simulation

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/targets"
)

// CoverageFile has the activities that the faults of all runs of a sweep have met, plan by
// plan.
const CoverageFile = "coverage.json"

// Met counts the states that the faults of one run have met. As JSON it is short, since a sweep
// keeps it of each run.
type Met struct {
	Starts     map[string]int     // number of faults of each kind that began
	Meetings   []checker.Meetings // by fault and recipe
	Situations situations.Counts
}

// metJSON is Met as JSON.
type metJSON struct {
	Recipes []histories.Recipe `json:"recipes"`
	Starts  map[string]int     `json:"starts"`
	// Met has, for each fault, the counts of each recipe, in the order of Recipes and of
	// the states; -1 where no process can be in the state.
	Met map[string][][]int `json:"met"`

	Situations situations.Counts `json:"situations,omitempty"`
}

// metOf returns the states that the faults of a run have met.
func metOf(r *checker.Report, reached situations.Counts) Met {
	m := Met{Starts: map[string]int{}, Meetings: r.Meetings, Situations: reached}
	for _, row := range r.Coverage {
		m.Starts[row.Fault] = row.Starts
	}
	return m
}

// IsZero reports whether the coverage of the run is unknown.
func (m Met) IsZero() bool { return m.Starts == nil }

// MarshalJSON implements json.Marshaler.
func (m Met) MarshalJSON() ([]byte, error) {
	j := metJSON{Starts: m.Starts, Met: map[string][][]int{}, Situations: m.Situations}
	for _, row := range m.Meetings {
		if !slices.Contains(j.Recipes, row.Recipe) {
			j.Recipes = append(j.Recipes, row.Recipe)
		}
	}
	for _, row := range m.Meetings {
		counts := j.Met[row.Fault]
		if counts == nil {
			counts = make([][]int, len(j.Recipes))
		}
		of := []int{}
		for _, s := range states.All() {
			n, can := row.Met[s]
			if !can {
				n = -1
			}
			of = append(of, n)
		}
		counts[slices.Index(j.Recipes, row.Recipe)] = of
		j.Met[row.Fault] = counts
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Met) UnmarshalJSON(text []byte) error {
	var j metJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*m = Met{Starts: j.Starts, Situations: j.Situations}
	for _, fault := range slices.Sorted(maps.Keys(j.Met)) {
		if len(j.Met[fault]) > len(j.Recipes) {
			return fmt.Errorf("coverage of %s: %d recipes, of %d", fault, len(j.Met[fault]), len(j.Recipes))
		}
		for i, counts := range j.Met[fault] {
			row := checker.Meetings{Fault: fault, Recipe: j.Recipes[i], Met: map[checker.State]int{}}
			for k, n := range counts {
				if k < len(states.All()) && n >= 0 {
					row.Met[states.All()[k]] = n
				}
			}
			m.Meetings = append(m.Meetings, row)
		}
	}
	return nil
}

// PlanCoverage counts the states that the faults of all runs of a plan have met.
type PlanCoverage struct {
	Plan string `json:"plan"`
	Runs int    `json:"runs"`
	// Without is the number of runs that are not in the sum: those that failed, and those of a
	// zkverify that did not keep their coverage.
	Without int `json:"withoutCoverage,omitempty"`
	checker.CoverageSum
	tries map[[2]string]int // runs with such a fault and recipe
}

func (p *PlanCoverage) add(m Met) {
	p.Runs++
	if m.IsZero() {
		p.Without++
		return
	}
	var starts checker.Coverage
	for _, fault := range slices.Sorted(maps.Keys(m.Starts)) {
		starts = append(starts, checker.CoverageRow{Fault: fault, Starts: m.Starts[fault]})
	}
	p.Add(checker.CoverageSum{Coverage: starts, Meetings: m.Meetings, Situations: m.Situations})
	if p.tries == nil {
		p.tries = map[[2]string]int{}
	}
	for _, row := range m.Meetings {
		p.tries[[2]string{row.Fault, string(row.Recipe)}]++
	}
}

// clone returns a copy that can be added to.
func (p *PlanCoverage) clone() *PlanCoverage {
	all := &PlanCoverage{Plan: p.Plan, Runs: p.Runs, Without: p.Without, tries: maps.Clone(p.tries)}
	all.Add(p.CoverageSum)
	return all
}

// Coverage returns the states that the faults of all runs so far have met, for each plan of the
// asked Specs. It has every cell that these runs could have filled, whether or not its fault
// began.
func (s *Sweep) Coverage(asked []Spec) (all []*PlanCoverage) {
	for _, spec := range asked {
		p := &PlanCoverage{Plan: spec.Plan}
		if known := s.plans[spec.Plan]; known != nil {
			p = known.clone()
		}
		kinds, recipes := spec.cells()
		p.Expect(kinds, recipes)
		p.Situations.Add(situations.Possible(recipes, true))
		all = append(all, p)
	}
	return all
}

// WriteCoverage writes the coverage of plans, what was searched, and the paths of models that were carried out, as JSON.
func WriteCoverage(w io.Writer, all []*PlanCoverage, searched []Searched, paths PathsDone) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{"plans": all, "searched": searched, "paths": paths})
}

// cells returns the faults that may begin in a run, and the recipes that it drives.
func (s Spec) cells() (kinds []string, recipes []histories.Recipe) {
	target, err := targets.Named(s.Target)
	if err != nil {
		return nil, nil
	}
	if recipes, err = workload.SelectRecipes(target, s.Recipes); err != nil {
		return nil, nil
	}
	if len(recipes) == 0 {
		recipes = []histories.Recipe{histories.Recipe(target.Recipe())}
	}
	plan, _ := PlanNamed(s.Plan)
	switch {
	case s.Schedule != nil:
		for _, step := range s.Schedule.Steps {
			if !slices.Contains(kinds, step.Fault) {
				kinds = append(kinds, step.Fault)
			}
		}
	case plan.own != "":
		kinds = []string{plan.own}
	default:
		names := s.Faults
		if s.allFaults() {
			names = []string{"all"}
		}
		selected, _ := faults.List().Select(names, nil, s.Processes)
		for _, k := range selected {
			if possible(k) {
				kinds = append(kinds, k.Name)
			}
		}
	}
	return kinds, recipes
}

// allFaults reports whether the Spec names no fault.
func (s Spec) allFaults() bool { return len(s.Faults) == 0 || s.Faults[0] == "all" }
