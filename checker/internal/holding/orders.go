package holding

import (
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/internal/words"
)

// orders counts overlaps by their cause in the servers' logs.
type orders struct{ early, outlived int }

func (o *orders) count(t *facts.Trace, a, b *facts.Hold) {
	if t.Service == nil {
		return
	}
	switch turn, _, _ := t.Service.Between(a, b); turn {
	case facts.TooEarly:
		o.early++
	case facts.InTurn:
		o.outlived++
	}
}

// String returns the counts as the end of a sentence, empty if the logs decide no overlap.
func (o *orders) String() string {
	var all []string
	if o.early > 0 {
		all = append(all, "the lock was granted too early "+words.Times(o.early))
	}
	if o.outlived > 0 {
		all = append(all, "a belief outlived its node "+words.Times(o.outlived))
	}
	if len(all) == 0 {
		return ""
	}
	return "; on the servers " + strings.Join(all, ", and ")
}
