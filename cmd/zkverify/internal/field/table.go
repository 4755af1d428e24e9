package field

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// page holds the data of the pages.
type page struct {
	Version    string
	Runs       int // that took place
	Seeds      int
	Guarantees []string // the guarantees that some lock promises
	Plans      []Plan
	Rows       []row
	Findings   []finding
	// Unexplained are violations without a known cause. They are no evidence against a lock.
	Unexplained []violation
}

// row is a lock: a cell for each guarantee, and one for each plan.
type row struct {
	Lock
	Runs        int
	Missing     string // why there is no run
	ByGuarantee []cell
	ByPlan      []cell
}

// cell counts runs by their outcomes.
type cell struct {
	Promised bool
	Held     int
	Violated int
	Other    int // unknown, or not put to the test
	// Explained reports whether each violation has an explanation.
	Explained bool
	// Guarantees are the violated guarantees.
	Guarantees []string
}

// String returns the cell in words.
func (c cell) String() string {
	switch {
	case c.Violated > 0:
		return fmt.Sprintf("violated in %d of %d", c.Violated, c.Violated+c.Held)
	case c.Held > 0:
		return fmt.Sprintf("holds in %d", c.Held)
	case c.Other > 0 && c.Promised:
		return "unknown"
	case c.Other > 0:
		return "not promised"
	}
	return "no run"
}

// finding is an explanation with the violations that it explains.
type finding struct {
	*Explanation
	Cases []violation // the shortest first
}

// Repeatable returns the cases that a repeat has shown again, or whose runs were not repeated.
func (f finding) Repeatable() []violation {
	return slices.DeleteFunc(slices.Clone(f.Cases), violation.neverCameBack)
}

// Rare names the cases that no repeat has shown, "" for none.
func (f finding) Rare() string {
	var all []string
	for _, v := range f.Cases {
		if v.neverCameBack() {
			repeats := 0
			for _, a := range v.Run.Again {
				if a.Guarantee == v.Guarantee {
					repeats += a.Of
				}
			}
			all = append(all, fmt.Sprintf("%s: %s (in %s, and in none of %s)", v.Lock.ID(), v.Guarantee, words.Count(v.Count, "run"), words.Count(repeats, "repeat")))
		}
	}
	return strings.Join(all, "; ")
}

// violation is the violation to show of a guarantee by a lock, among those with one explanation.
type violation struct {
	Lock      Lock
	Guarantee string
	Count     int // runs with such a violation
	Run       *Result
	Verdict   *Verdict
	Again     *Repeats // nil if the run was not repeated
}

func (v violation) neverCameBack() bool { return v.Again != nil && v.Again.Came == 0 }

// Command returns the command that shows the violation most often.
func (v violation) Command() string {
	if v.Again != nil {
		return cmp.Or(v.Again.Command, v.Run.Command)
	}
	return v.Run.Command
}

// pageOf returns the data of the pages for the results so far.
func pageOf(f *Field, s *State) *page {
	p := &page{Version: s.Version, Plans: f.Plans}
	seeds := map[int64]bool{}
	for _, r := range s.Results {
		if r.Missing == "" {
			p.Runs++
			seeds[r.Seed] = true
		}
		for _, v := range r.Verdicts {
			if v.Promised && !slices.Contains(p.Guarantees, v.Guarantee) {
				p.Guarantees = append(p.Guarantees, v.Guarantee)
			}
		}
	}
	p.Seeds = len(seeds)
	slices.SortFunc(p.Guarantees, func(a, b string) int { return place(a) - place(b) })
	for _, l := range f.Locks() {
		p.Rows = append(p.Rows, p.row(f, s, l))
	}
	p.find(f, s)
	return p
}

// place returns the place of a guarantee's column: the guarantees that matter most to users come
// first.
func place(guarantee string) int {
	order := []string{"mutual exclusion", "read/write", "permits", "multi-lock", "no lost update, plain", "no lost update, fenced", "no lost update, guarded", "fencing", "loss is told", "says what is so", "fairness", "reentrancy", "progress", "no leak", "barriers", "revocation", "observers", "reconnects politely"}
	if i := slices.Index(order, guarantee); i >= 0 {
		return i
	}
	return len(order)
}

func (p *page) row(f *Field, s *State, l Lock) row {
	r := row{Lock: l}
	for _, result := range s.Results {
		switch {
		case result.Lock != l.id:
		case result.Missing != "":
			r.Missing = result.Missing
		default:
			r.Runs++
		}
	}
	for _, g := range p.Guarantees {
		r.ByGuarantee = append(r.ByGuarantee, count(f, s, l.id, func(_ *Result, v Verdict) bool { return v.Guarantee == g }, anyRun))
	}
	for _, plan := range f.Plans {
		r.ByPlan = append(r.ByPlan, count(f, s, l.id, func(r *Result, v Verdict) bool { return r.Plan == plan.Name }, underFaults))
	}
	return r
}

func anyRun(*Result) bool { return true }

// underFaults reports whether the faults of a run have put the lock to the test.
func underFaults(r *Result) bool { return r.Idle == "" }

// count counts the runs of a lock by the worst of the verdicts for which the predicate is true.
// A run whose verdicts hold counts as held only if shows returns true for it.
func count(f *Field, s *State, lock string, is func(*Result, Verdict) bool, shows func(*Result) bool) cell {
	c := cell{Explained: true}
	for i := range s.Results {
		r := &s.Results[i]
		if r.Lock != lock || r.Missing != "" {
			continue
		}
		any, held, violated := false, false, false
		for _, v := range r.Verdicts {
			if !is(r, v) {
				continue
			}
			any = true
			c.Promised = c.Promised || v.Promised
			switch {
			case !v.Promised:
			case v.Outcome == verdict.Violated:
				violated = true
				c.Explained = c.Explained && f.explained(r, v) != nil
				if !slices.Contains(c.Guarantees, v.Guarantee) {
					c.Guarantees = append(c.Guarantees, v.Guarantee)
				}
			case v.Outcome == verdict.Holds:
				held = true
			}
		}
		switch {
		case violated:
			c.Violated++
		case held && shows(r):
			c.Held++
		case any:
			c.Other++
		}
	}
	return c
}

// find groups the violations by their explanations.
func (p *page) find(f *Field, s *State) {
	all := casesOf(f, s)
	for i := range f.Explanations {
		e := &f.Explanations[i]
		if cases := p.sorted(all, e); len(cases) > 0 {
			slices.SortStableFunc(cases, func(a, b violation) int { return a.Verdict.Events - b.Verdict.Events })
			p.Findings = append(p.Findings, finding{e, cases})
		}
	}
	p.Unexplained = p.sorted(all, nil)
}

// caseOf is a lock and a line of the page about it.
type caseOf struct {
	lock string
	line
}

// casesOf returns the violation to show for each lock and line.
func casesOf(f *Field, s *State) map[caseOf]*violation {
	all := map[caseOf]*violation{}
	for i := range s.Results {
		r := &s.Results[i]
		for _, v := range r.violated() {
			of := caseOf{r.Lock, line{f.explained(r, *v), v.Guarantee}}
			one := all[of]
			if one == nil {
				one = &violation{Guarantee: v.Guarantee}
				all[of] = one
			}
			one.Count++
			if shownBefore(r, v, one.Run, one.Verdict) {
				one.Run, one.Verdict, one.Again = r, v, r.mostOften(v.Guarantee)
			}
		}
	}
	return all
}

// sorted returns the cases with the explanation e, in the order of the table. nil stands for
// cases without one.
func (p *page) sorted(all map[caseOf]*violation, e *Explanation) (cases []violation) {
	for _, row := range p.Rows {
		for _, g := range p.Guarantees {
			if one := all[caseOf{row.id, line{e, g}}]; one != nil {
				one.Lock = row.Lock
				cases = append(cases, *one)
			}
		}
	}
	return cases
}
