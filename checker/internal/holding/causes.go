package holding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
)

// causes are the overlaps of holds whose causes are told when the history has been read: the
// end of a session may be seen later.
type causes []overlapping

type overlapping struct{ a, b facts.Piece }

func (o overlapping) since() time.Duration { return max(o.a.From, o.b.From) }
func (o overlapping) until() time.Duration { return min(o.a.To, o.b.To) }

// maxOverlaps bounds the overlaps that are kept for their causes. Of more, no cause is told: which
// of them come first depends on the windows.
const maxOverlaps = 1 << 14

func (o *causes) add(a, b facts.Piece) {
	if len(*o) <= maxOverlaps {
		*o = append(*o, overlapping{a, b})
	}
}

// blame counts the overlaps for their causes, has the first of each cause described by tell, and
// returns the counts as the end of a sentence.
func (o causes) blame(t *facts.Trace, v *verdict.Verdict, tell func(t *facts.Trace, a, b facts.Piece) verdict.Witness) string {
	if len(o) > maxOverlaps {
		return ""
	}
	slices.SortStableFunc(o, func(x, y overlapping) int { return cmp.Compare(x.since(), y.since()) })
	met := map[string]bool{}
	for _, x := range o {
		cause := judge.CauseOf(t, x.until(), x.a.Hold, x.b.Hold)
		v.Blame(cause)
		if !met[cause] {
			met[cause] = true
			v.Exemplify(cause, func() verdict.Witness { return tell(t, x.a, x.b) })
		}
	}
	var all []string
	for _, c := range v.Causes {
		all = append(all, fmt.Sprintf("%d of %d: %s", c.Count, len(o), c.What))
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}
