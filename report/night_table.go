package report

import (
	"slices"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// nightTable holds the results of each guarantee of each recipe, over all runs.
type nightTable struct {
	Recipes []histories.Recipe
	Rows    []nightRow
}

type nightRow struct {
	Guarantee string
	Cells     [][]nightCount // a cell for each recipe, the worst outcome first; none: the recipe does not have it
}

// nightCount lists the runs with one outcome.
type nightCount struct {
	Outcome outcomeView
	Bad     bool // such a run does not pass
	Seeds   []int64
}

// Runs returns the names of the runs if they do not pass, else "".
func (c nightCount) Runs() string {
	if !c.Bad {
		return ""
	}
	return seedList(c.Seeds)
}

func (n *Night) table() nightTable {
	t := nightTable{Recipes: n.recipes()}
	for _, g := range checker.Guarantees() {
		row := nightRow{Guarantee: g.Name}
		known := false
		for _, recipe := range t.Recipes {
			cell := n.cell(recipe, g.Name)
			known = known || cell != nil
			row.Cells = append(row.Cells, cell)
		}
		if known {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// recipes returns the recipes under test, in the order of histories.Recipes.
func (n *Night) recipes() []histories.Recipe {
	driven := make(map[histories.Recipe]bool)
	for _, r := range n.Results {
		for _, c := range r.Cases {
			driven[c.Recipe] = true
		}
	}
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !driven[r] })
}

func (n *Night) cell(recipe histories.Recipe, guarantee string) (counts []nightCount) {
	for _, o := range verdict.Outcomes() {
		count := nightCount{Outcome: signs[o]}
		for _, r := range n.Results {
			for _, c := range r.Cases {
				if c.Recipe == recipe && c.Guarantee == guarantee && c.Outcome == o {
					count.Seeds = append(count.Seeds, r.Seed)
					count.Bad = count.Bad || c.counts()
				}
			}
		}
		if count.Seeds != nil {
			counts = append(counts, count)
		}
	}
	return counts
}
