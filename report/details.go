package report

import (
	"fmt"

	"github.com/zkverify/zkverify/checker"
)

// details prints the parts of verdict.json that only a verbose report has: the states that
// faults have met, the use of each recipe, and the figures.
func (p *printer) details(r *checker.Report, facts []string) {
	p.meetings(r.Meetings, r.Coverage)
	p.recipes(r.Recipes)
	if len(r.Figures)+len(facts) > 0 {
		p.printf("\n")
	}
	for _, f := range r.Figures {
		p.wrapped("", "  ", f.String())
	}
	for _, f := range facts {
		p.wrapped("", "  ", f)
	}
	for _, d := range r.Disagreements {
		p.wrapped("the servers disagree: ", "  ", d)
	}
	for _, d := range r.Diverged {
		p.wrapped("a server was wrong for a while: ", "  ", d.String())
	}
}

// recipes prints the use of each recipe, if there were several.
func (p *printer) recipes(rows []checker.RecipeUse) {
	if len(rows) < 2 {
		return
	}
	p.printf("\n")
	p.wrapped("", "", "how much each recipe was used; held and waited: when a fault began")
	p.printf("%-17s %6s %11s %9s %7s %7s\n", "recipe", "locks", "operations", "got", "held", "waited")
	for _, r := range rows {
		held := "."
		if r.Recipe.IsLock() {
			held = fmt.Sprint(r.Held)
		}
		p.printf("%-17s %6d %11d %9d %7s %7d\n", r.Recipe, r.Locks, r.Operations, r.Got, held, r.Awaited)
	}
}
