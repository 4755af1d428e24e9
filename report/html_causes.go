package report

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
)

// add adds a violation to its group.
func (g *storyGroup) add(number int, s *story, r *checker.Report) {
	w := s.witness
	view := storyView{Number: number, Guarantee: s.guarantee, Text: w.String(), Fenced: checker.Fenced(s.guarantee, *w), Lines: s.lines(), MoreLines: s.more}
	for _, f := range w.Faults {
		view.Faults = append(view.Faults, describeFault(f))
	}
	if w.MoreFaults > 0 {
		view.Faults = append(view.Faults, fmt.Sprintf("and %d more", w.MoreFaults))
	}
	if len(g.First) < maxShown {
		g.First = append(g.First, view)
	} else {
		g.More = append(g.More, view)
	}
	if n := len(g.Broken); n == 0 || g.Broken[n-1].Guarantee != s.guarantee {
		b := brokenView{Verdict: r.Verdict(s.guarantee)}
		if i := slices.IndexFunc(b.Causes, func(c verdict.Cause) bool { return c.What == g.Title }); i >= 0 {
			b.Count = b.Causes[i].Count
		}
		g.Broken = append(g.Broken, b)
	}
	b := &g.Broken[len(g.Broken)-1]
	b.Numbers = append(b.Numbers, number+1)
}

// violationsOf counts the violations of a run.
func violationsOf(r *checker.Report) (n int) {
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Violated {
			n += v.Violations
		}
	}
	return n
}
