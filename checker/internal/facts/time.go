package facts

import (
	"math"
	"time"
)

// Forever is the time of an event that never happened.
const Forever = time.Duration(math.MaxInt64)

// Span is a closed interval of time.
type Span struct{ From, To time.Duration }

// Length returns the length of the span.
func (s Span) Length() time.Duration { return s.To - s.From }

// After returns at plus d, and Forever if at is Forever.
func After(at, d time.Duration) time.Duration {
	if at == Forever {
		return Forever
	}
	return at + d
}
