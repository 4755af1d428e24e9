package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// faultSpan is one fault from start to stop.
type faultSpan struct {
	*histories.Fault
	start, stop time.Duration
	event       int
	failed      bool // it could not be carried out
}

func (f *faultSpan) hits(process int) bool {
	return len(f.Processes) == 0 || slices.Contains(f.Processes, process)
}
