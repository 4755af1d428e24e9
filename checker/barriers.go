package checker

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// barriers: nobody passes a barrier that is up, and the members of a double
// barrier come in together and go out together. The two recipes have one
// verdict, and each that is driven must have been put to the test.
func (c *check) barriers(t *trace) Verdict {
	v := Verdict{Guarantee: Barriers, Promised: true, Expected: true}
	var shown, idle []string
	for _, r := range t.recipes() {
		var locks []string
		for _, lock := range t.locks {
			if t.recipe(lock) == r {
				locks = append(locks, lock)
			}
		}
		switch r {
		case histories.Barrier:
			passes, held := c.singleBarriers(t, &v, locks)
			shown = append(shown, plural(passes, "wait")+" at a barrier")
			v.count("waits that passed", passes)
			v.count("waits begun while the barrier was up", held)
			if held == 0 {
				idle = append(idle, "nobody waited at a barrier that was up")
			}
		case histories.DoubleBarrier:
			entered, left := t.doubleBarriers(&v, locks)
			shown = append(shown, plural(entered, "member")+" of a double barrier")
			v.count("members that entered", entered)
			v.count("members that left", left)
			if entered == 0 {
				idle = append(idle, "nobody entered a double barrier")
			}
		}
	}
	switch {
	case v.Outcome == Unknown: // the engines disagree
	case len(idle) > 0 && v.Violations == 0:
		v.idle(strings.Join(idle, ", "))
	default:
		v.conclude("nobody was early: "+strings.Join(shown, ", "), fmt.Sprintf("somebody passed too early, %s", plural(v.Violations, "time")))
	}
	return v
}
