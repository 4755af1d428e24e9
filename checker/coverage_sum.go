package checker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/histories/states"
)

// CoverageSum is the sum of the coverage of several runs.
type CoverageSum struct {
	Coverage Coverage   `json:"coverage,omitempty"`
	Meetings []Meetings `json:"meetings,omitempty"`
	// Situations counts each situation that the runs could show.
	Situations situations.Counts `json:"situations,omitempty"`
}

// Add adds the coverage of one run, or the sum of several.
func (c *CoverageSum) Add(other CoverageSum) {
	c.Situations.Add(other.Situations)
	for _, row := range other.Coverage {
		i := slices.IndexFunc(c.Coverage, func(r CoverageRow) bool { return r.Fault == row.Fault })
		if i < 0 {
			i = len(c.Coverage)
			c.Coverage = append(c.Coverage, CoverageRow{Fault: row.Fault, Met: map[State]int{}})
		}
		c.Coverage[i].Starts += row.Starts
		addCounts(c.Coverage[i].Met, row.Met)
	}
	for _, row := range other.Meetings {
		i := c.row(row.Fault, row.Recipe)
		if i < 0 {
			i = len(c.Meetings)
			c.Meetings = append(c.Meetings, Meetings{Fault: row.Fault, Recipe: row.Recipe, Met: map[State]int{}})
		}
		addCounts(c.Meetings[i].Met, row.Met)
	}
	c.sort()
}

// Expect adds an empty row for each pair of these faults and recipes that no run had: a fault
// that never began has met nothing.
func (c *CoverageSum) Expect(faults []string, recipes []histories.Recipe) {
	for _, r := range recipes {
		rows := slices.DeleteFunc(slices.Clone(c.Meetings), func(m Meetings) bool { return m.Recipe != r })
		places := len(rows) == 0 || slices.ContainsFunc(rows, func(m Meetings) bool { _, can := m.Met[Waiting]; return can })
		for _, fault := range faults {
			if c.row(fault, r) < 0 {
				c.Meetings = append(c.Meetings, Meetings{fault, r, none(states.Of(r, places))})
			}
		}
	}
	c.sort()
}

// Unmet returns the combinations that did not occur, and how many there are in all.
func (c *CoverageSum) Unmet() (empty []Unmet, of int) {
	for _, m := range c.Meetings {
		of += len(m.Met)
		for _, s := range m.Unmet() {
			empty = append(empty, Unmet{m.Fault, m.Recipe, s})
		}
	}
	return empty, of
}

func (c *CoverageSum) row(fault string, r histories.Recipe) int {
	return slices.IndexFunc(c.Meetings, func(m Meetings) bool { return m.Fault == fault && m.Recipe == r })
}

func (c *CoverageSum) sort() {
	slices.SortFunc(c.Coverage, func(a, b CoverageRow) int { return cmp.Compare(a.Fault, b.Fault) })
	order := histories.Recipes()
	slices.SortFunc(c.Meetings, func(a, b Meetings) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(slices.Index(order, a.Recipe), slices.Index(order, b.Recipe)))
	})
}

// addCounts adds counts to others. A state without a count is one that no process can be in.
func addCounts(to, from map[State]int) {
	for state := range maps.Keys(from) {
		to[state] += from[state]
	}
}
