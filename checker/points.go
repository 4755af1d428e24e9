package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/internal/words"
)

// tellPoints counts how often servers came to the points of their code at which faults strike;
// "" if no fault had such a point. A fault whose point no server came to shows nothing.
func tellPoints(points map[string]states.Reach) string {
	var reached, missed []string
	for _, at := range slices.Sorted(maps.Keys(points)) {
		switch r := points[at]; {
		case r.Missed == r.Faults:
			missed = append(missed, at)
		case r.Missed > 0:
			reached = append(reached, fmt.Sprintf("%s %s, in %d of %s", at, words.Count(r.Times, "time"), r.Faults-r.Missed, words.Count(r.Faults, "fault")))
		default:
			reached = append(reached, fmt.Sprintf("%s %s", at, words.Count(r.Times, "time")))
		}
	}
	var parts []string
	if len(reached) > 0 {
		parts = append(parts, "failpoints that servers came to: "+strings.Join(reached, "; "))
	}
	if len(missed) > 0 {
		parts = append(parts, "failpoints that no server came to, which show nothing: "+strings.Join(missed, "; "))
	}
	return strings.Join(parts, ". ")
}
