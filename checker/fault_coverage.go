package checker

import (
	"maps"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// Meetings is how often one kind of fault has met the locks of one recipe in each
// state: while it was in force, a process that it hit was in that state, or came
// to be. Each fault, process and state counts once. States in which no process of
// the recipe can be are no keys; what was never met is 0.
type Meetings struct {
	Fault  string           `json:"fault"`
	Recipe histories.Recipe `json:"recipe"`
	Met    map[State]int    `json:"met"`
}

// Unmet returns the states that no such fault has met.
func (m *Meetings) Unmet() []State {
	return slices.DeleteFunc(States(), func(s State) bool { n, can := m.Met[s]; return !can || n > 0 })
}

// Unmet is a cell of the coverage that is empty.
type Unmet struct {
	Fault  string
	Recipe histories.Recipe
	State  State
}

// coverageOf returns what faults have found as they began, by fault.
func coverageOf(c *states.Coverage) Coverage {
	out := make(Coverage, 0, len(c.Starts))
	for _, fault := range slices.Sorted(maps.Keys(c.Starts)) {
		row := CoverageRow{fault, c.Starts[fault], none(States())}
		for cell, n := range c.Found {
			if cell.Fault == fault {
				row.Met[cell.State] += n
			}
		}
		out = append(out, row)
	}
	return out
}

// meetingsOf returns what faults have met while they were in force, by fault and recipe.
func meetingsOf(c *states.Coverage, recipes []histories.Recipe) (out []Meetings) {
	for _, fault := range slices.Sorted(maps.Keys(c.Starts)) {
		for _, r := range recipes {
			met := none(c.States(r))
			for s := range met {
				met[s] = c.Met[states.Cell{Fault: fault, Doing: states.Doing{Recipe: r, State: s}}]
			}
			out = append(out, Meetings{fault, r, met})
		}
	}
	return out
}

// none counts 0 of each state.
func none(all []State) map[State]int {
	met := map[State]int{}
	for _, s := range all {
		met[s] = 0
	}
	return met
}
