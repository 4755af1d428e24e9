package report

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// causeOf returns the cause of most violations of a guarantee in one line, "" if the record does not
// tell it.
func causeOf(v *verdict.Verdict) string {
	if len(v.Causes) == 0 {
		return ""
	}
	return fmt.Sprintf("cause: %s, %d of %s", v.Causes[0].What, v.Causes[0].Count, words.Count(v.Violations, "violation"))
}

// alsoBroken returns a line for each other guarantee that is violated for the main cause of v.
func alsoBroken(v *verdict.Verdict, all []verdict.Verdict) (lines []string) {
	if v.MainCause() == "" {
		return nil
	}
	for _, o := range verdict.Broken(v.MainCause(), all) {
		if o.Guarantee != v.Guarantee {
			lines = append(lines, fmt.Sprintf("the same cause: %s, violated %s: %s", o.Guarantee, words.Times(o.Violations), o.Reason))
		}
	}
	return lines
}
