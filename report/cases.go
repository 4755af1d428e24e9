package report

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Case is what came of one guarantee of one recipe in a run. JUnit and the page of
// a night are made of cases.
type Case struct {
	Recipe    histories.Recipe `json:"recipe,omitempty"` // empty: the run as a whole
	Guarantee string           `json:"guarantee"`
	Outcome   verdict.Outcome  `json:"outcome"`
	Reason    string           `json:"reason,omitempty"` // why it does not hold
	// Expected is false where the run did not set out to put the guarantee to
	// the test. That it is not exercised does not count then.
	Expected bool `json:"expected"`
	// Witnesses tells the violations on locks of the recipe that are on record,
	// a line each.
	Witnesses string `json:"witnesses,omitempty"`
}

// asWhole stands for a guarantee in the case of a run that shows nothing although
// each of its guarantees may hold.
const asWhole = "the run as a whole"

// CasesOf returns a case for each recipe and guarantee of a run. Where none of
// them says why the run does not hold, one more does.
func CasesOf(header histories.Header, r *checker.Report) (cases []Case) {
	bad := false
	for _, use := range r.Recipes {
		for _, g := range r.Guarantees() {
			if g.Of(use.Recipe) {
				c := caseOf(&header, use.Recipe, r.Verdict(g.Name))
				bad = bad || c.counts()
				cases = append(cases, c)
			}
		}
	}
	if o := r.Outcome(); o != verdict.Holds && !bad {
		// The servers disagree, or the faults met nobody: of the run, not of a guarantee.
		cases = append(cases, Case{Guarantee: asWhole, Outcome: o, Reason: r.Reason(), Expected: true})
	}
	return cases
}

// caseOf is one guarantee for one recipe. A violation counts against the recipes
// whose locks its witnesses name: for the others the guarantee holds.
func caseOf(header *histories.Header, recipe histories.Recipe, v *verdict.Verdict) Case {
	c := Case{Recipe: recipe, Guarantee: v.Guarantee, Outcome: v.Outcome, Reason: v.Reason, Expected: v.Expected}
	switch v.Outcome {
	case verdict.Holds:
		c.Reason = ""
	case verdict.Violated:
		mine := witnessesOf(header, recipe, v)
		c.Witnesses = strings.Join(mine, "\n")
		switch {
		case len(mine) > 0 || len(v.Witnesses) == 0:
		case v.Violations > len(v.Witnesses):
			c.Outcome = verdict.Unknown
			c.Reason = fmt.Sprintf("it is violated on locks of other recipes, and of %s only the first %d are on record", words.Count(v.Violations, "violation"), len(v.Witnesses))
		default:
			c.Outcome, c.Reason = verdict.Holds, ""
		}
	}
	return c
}

// witnessesOf tells the witnesses on locks of a recipe. One that names no lock of
// the header is of all recipes.
func witnessesOf(header *histories.Header, recipe histories.Recipe, v *verdict.Verdict) (told []string) {
	for _, w := range v.Witnesses {
		if _, known := header.Locks[w.Lock]; w.Lock == "" || (len(header.Locks) > 0 && !known) || header.RecipeOf(w.Lock) == recipe {
			told = append(told, w.String())
		}
	}
	return told
}

// counts reports whether a run with this case does not pass.
func (c *Case) counts() bool {
	switch c.Outcome {
	case verdict.Holds, verdict.NotPromised:
		return false
	case verdict.NotExercised:
		return c.Expected
	}
	return true
}

// junit is the case as JUnit has it: a failure was judged and is wrong, an error
// could not be judged or was not put to the test, and nobody asked for what was
// skipped.
func (c *Case) junit(class string) JUnitCase {
	out := JUnitCase{Class: class, Name: c.Guarantee}
	if c.Recipe != "" {
		out.Class += "." + string(c.Recipe)
	}
	why := string(c.Outcome) + ": " + c.Reason
	switch {
	case c.Outcome == verdict.Violated:
		out.Failure, out.Detail = c.Reason, c.Witnesses
	case c.Outcome == verdict.NotPromised:
		out.Skipped = c.Reason
	case c.counts():
		out.Error = why
	case c.Outcome != verdict.Holds:
		out.Skipped = why
	}
	return out
}
