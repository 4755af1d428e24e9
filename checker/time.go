package checker

import (
	"math"
	"time"
)

// forever is the time of what never happened.
const forever = time.Duration(math.MaxInt64)

// span is a closed interval of time.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }

// after adds to a time that may be forever.
func after(at, d time.Duration) time.Duration {
	if at == forever {
		return forever
	}
	return at + d
}
