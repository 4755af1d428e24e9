package checker

import (
	"maps"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// Meetings counts how often one kind of fault has met the locks of one recipe in each state. A
// fault meets a state if a process that it hits is in that state, or enters it, while the fault
// is in force. Each combination of fault, process and state counts once. A state that no
// process of the recipe can be in is not a key; a state that was never met has the count 0.
type Meetings struct {
	Fault  string           `json:"fault"`
	Recipe histories.Recipe `json:"recipe"`
	Met    map[State]int    `json:"met"`
}

// Unmet returns the states that no such fault has met.
func (m *Meetings) Unmet() []State {
	return slices.DeleteFunc(States(), func(s State) bool { n, can := m.Met[s]; return !can || n > 0 })
}

// Unmet is a combination that did not occur.
type Unmet struct {
	Fault  string
	Recipe histories.Recipe
	State  State
}

// coverageOf returns, by fault, the states in which faults met processes as they began.
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

// meetingsOf returns, by fault and recipe, the states that faults have met while they were in
// force.
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

// none returns a count of 0 for each state.
func none(all []State) map[State]int {
	met := map[State]int{}
	for _, s := range all {
		met[s] = 0
	}
	return met
}
