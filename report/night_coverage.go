package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// met adds what the faults of a run, or of a part of the night, have met.
func (n *Night) met(atStart checker.Coverage, during []checker.Meetings) {
	for _, row := range atStart {
		i := slices.IndexFunc(n.Coverage, func(r checker.CoverageRow) bool { return r.Fault == row.Fault })
		if i < 0 {
			i = len(n.Coverage)
			n.Coverage = append(n.Coverage, checker.CoverageRow{Fault: row.Fault, Met: map[checker.State]int{}})
		}
		n.Coverage[i].Starts += row.Starts
		addCounts(n.Coverage[i].Met, row.Met)
	}
	for _, row := range during {
		i := slices.IndexFunc(n.Meetings, func(m checker.Meetings) bool { return m.Fault == row.Fault && m.Recipe == row.Recipe })
		if i < 0 {
			i = len(n.Meetings)
			n.Meetings = append(n.Meetings, checker.Meetings{Fault: row.Fault, Recipe: row.Recipe, Met: map[checker.State]int{}})
		}
		addCounts(n.Meetings[i].Met, row.Met)
	}
	slices.SortFunc(n.Coverage, func(a, b checker.CoverageRow) int { return cmp.Compare(a.Fault, b.Fault) })
	order := histories.Recipes()
	slices.SortFunc(n.Meetings, func(a, b checker.Meetings) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(slices.Index(order, a.Recipe), slices.Index(order, b.Recipe)))
	})
}

// addCounts adds counts to others. A state without a count is one that no process
// can be in.
func addCounts(to, from map[checker.State]int) {
	for state := range maps.Keys(from) {
		to[state] += from[state]
	}
}

// emptyCells counts the cells of the coverage in which nothing ever met.
func (n *Night) emptyCells() (empty, of int) {
	for _, m := range n.Meetings {
		empty += len(m.Unmet())
		of += len(m.Met)
	}
	return empty, of
}
