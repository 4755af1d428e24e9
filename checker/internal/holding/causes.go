package holding

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/witness"
	"github.com/zkverify/zkverify/checker/verdict"
)

// causes are the overlaps of holds whose causes are told when the history has been read: the
// end of a session may be seen later.
type causes []overlapping

type overlapping struct {
	a, b  *facts.Hold
	until time.Duration
}

// maxOverlaps bounds the overlaps that are kept for their causes. Of more, no cause is told: which
// of them come first depends on the windows.
const maxOverlaps = 1 << 14

func (o *causes) add(a, b facts.Piece) {
	if len(*o) <= maxOverlaps {
		*o = append(*o, overlapping{a.Hold, b.Hold, min(a.To, b.To)})
	}
}

// blame counts the overlaps for their causes, and returns the counts as the end of a sentence.
func (o causes) blame(t *facts.Trace, v *verdict.Verdict) string {
	if len(o) > maxOverlaps {
		return ""
	}
	for _, x := range o {
		v.Blame(witness.CauseOf(t, x.until, x.a, x.b))
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
