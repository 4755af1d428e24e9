package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Case is the result of one guarantee of one recipe in a run. JUnit files and the page
// of a night consist of cases.
type Case struct {
	Recipe    histories.Recipe `json:"recipe,omitempty"` // empty: the run as a whole
	Guarantee string           `json:"guarantee"`
	Outcome   verdict.Outcome  `json:"outcome"`
	Reason    string           `json:"reason,omitempty"` // why it does not hold
	// Expected is false if the run was not meant to exercise the guarantee. Then it
	// does not count if the guarantee is not exercised.
	Expected bool `json:"expected"`
	// Cause is the cause of most violations on locks of the recipe, if the record tells it.
	Cause string `json:"cause,omitempty"`
	// Also has a line for each other guarantee that is violated for the same cause.
	Also []string `json:"also,omitempty"`
	// Witnesses describes the recorded violations on locks of the recipe, one in each
	// line.
	Witnesses string `json:"witnesses,omitempty"`
}

// UnmarshalJSON reads a case, also of an earlier version.
func (c *Case) UnmarshalJSON(b []byte) error {
	type plain Case
	err := json.Unmarshal(b, (*plain)(c))
	c.Guarantee = checker.PresentName(c.Guarantee)
	return err
}

// asWhole is the guarantee of the case for a run that proves nothing although each of
// its guarantees may hold.
const asWhole = "the run as a whole"

// CasesOf returns a case for each recipe and guarantee of a run. If none of them gives
// the reason why the run does not hold, it adds a case for the run as a whole.
func CasesOf(header histories.Header, r *checker.Report) (cases []Case) {
	bad := false
	for _, use := range r.Recipes {
		for _, g := range r.Guarantees() {
			if g.Of(use.Recipe) {
				c := caseOf(&header, use.Recipe, r.Verdict(g.Name), r.Verdicts)
				bad = bad || c.counts()
				cases = append(cases, c)
			}
		}
	}
	if o := r.Outcome(); o != verdict.Holds && !bad {
		// The servers disagree, or the faults met no process: the reason is the run's.
		cases = append(cases, Case{Guarantee: asWhole, Outcome: o, Reason: r.Reason(), Expected: true})
	}
	return cases
}

// caseOf returns the case of one guarantee for one recipe. A violation counts against
// the recipes whose locks its witnesses name: for the others the guarantee holds.
func caseOf(header *histories.Header, recipe histories.Recipe, v *verdict.Verdict, all []verdict.Verdict) Case {
	c := Case{Recipe: recipe, Guarantee: v.Guarantee, Outcome: v.Outcome, Reason: v.Reason, Expected: v.Expected}
	switch v.Outcome {
	case verdict.Holds:
		c.Reason = ""
	case verdict.Violated:
		mine := witnessesOf(header, recipe, v)
		if c.Witnesses = strings.Join(mine, "\n"); len(mine) > 0 || len(v.Witnesses) == 0 {
			c.Cause, c.Also = v.MainCause(), alsoBroken(v, all)
		}
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

// witnessesOf describes the witnesses on locks of a recipe. A witness that names no lock
// of the header counts for all recipes.
func witnessesOf(header *histories.Header, recipe histories.Recipe, v *verdict.Verdict) (told []string) {
	for _, w := range v.Witnesses {
		if _, known := header.Locks[w.Lock]; w.Lock == "" || (len(header.Locks) > 0 && !known) || header.RecipeOf(w.Lock) == recipe {
			told = append(told, w.String())
		}
	}
	return told
}

// counts reports whether a run with this case fails.
func (c *Case) counts() bool {
	switch c.Outcome {
	case verdict.Holds, verdict.NotPromised:
		return false
	case verdict.NotExercised:
		return c.Expected
	}
	return true
}

// junit converts the case to JUnit: a violated guarantee is a failure, a guarantee that
// could not be judged or was not exercised is an error, and a guarantee that was not
// promised, or that the run was not meant to exercise, is skipped.
func (c *Case) junit(class string) JUnitCase {
	out := JUnitCase{Class: class, Name: c.Guarantee}
	if c.Recipe != "" {
		out.Class += "." + string(c.Recipe)
	}
	why := string(c.Outcome) + ": " + c.Reason
	switch {
	case c.Outcome == verdict.Violated:
		out.Failure, out.Detail = c.Reason, c.detail()
	case c.Outcome == verdict.NotPromised:
		out.Skipped = c.Reason
	case c.counts():
		out.Error = why
	case c.Outcome != verdict.Holds:
		out.Skipped = why
	}
	return out
}

// detail returns the cause of the violations, what else it breaks, and the violations, a line each.
func (c *Case) detail() string {
	var lines []string
	if c.Cause != "" {
		lines = append([]string{"cause: " + c.Cause}, c.Also...)
	}
	if c.Witnesses != "" {
		lines = append(lines, c.Witnesses)
	}
	return strings.Join(lines, "\n")
}
