package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// JUnitOf returns the junit.xml of a run that took so long: a case for each
// recipe and guarantee of it. No suite passes whose run does not.
func JUnitOf(header histories.Header, r *checker.Report, took time.Duration) *JUnit {
	s := &JUnit{Name: "zkverify " + header.Target, Took: took}
	bad := false
	for _, use := range r.Recipes {
		for _, g := range checker.Guarantees() {
			if v := r.Verdict(g.Name); v != nil && g.Of(use.Recipe) {
				c := caseOf(&header, use.Recipe, v)
				bad = bad || c.Failure != "" || c.Error != ""
				s.Cases = append(s.Cases, c)
			}
		}
	}
	if o := r.Outcome(); o != checker.Holds && !bad {
		// The servers disagree, or the faults met nobody: of the run, not of a guarantee.
		s.Cases = append(s.Cases, JUnitCase{Class: header.Target, Name: "the run as a whole", Error: string(o) + ": " + r.Reason()})
	}
	return s
}

// caseOf is one guarantee for one recipe.
func caseOf(header *histories.Header, recipe histories.Recipe, v *checker.Verdict) JUnitCase {
	c := JUnitCase{Class: header.Target + "." + string(recipe), Name: v.Guarantee}
	switch v.Outcome {
	case checker.Violated:
		var told []string
		for _, w := range v.Witnesses {
			// One that names no lock of the header is of them all.
			if _, known := header.Locks[w.Lock]; w.Lock == "" || (len(header.Locks) > 0 && !known) || header.RecipeOf(w.Lock) == recipe {
				told = append(told, w.String())
			}
		}
		switch {
		case len(told) > 0 || len(v.Witnesses) == 0:
			c.Failure, c.Detail = v.Reason, strings.Join(told, "\n")
		case v.Violations > len(v.Witnesses):
			c.Error = fmt.Sprintf("unknown: it is violated on locks of other recipes, and only %d of %d violations are on record", len(v.Witnesses), v.Violations)
		}
	case checker.Unknown, checker.NotJudged:
		c.Error = string(v.Outcome) + ": " + v.Reason
	case checker.NotExercised:
		if v.Promised && v.Expected {
			c.Error = string(v.Outcome) + ": " + v.Reason
		} else {
			c.Skipped = v.Reason
		}
	}
	return c
}
