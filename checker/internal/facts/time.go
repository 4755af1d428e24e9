package facts

import (
	"math"
	"time"
)

// Forever is the time of what never happened.
const Forever = time.Duration(math.MaxInt64)

// Span is a closed interval of time.
type Span struct{ From, To time.Duration }

// Length is how long the span is.
func (s Span) Length() time.Duration { return s.To - s.From }

// After adds to a time that may be forever.
func After(at, d time.Duration) time.Duration {
	if at == Forever {
		return Forever
	}
	return at + d
}
