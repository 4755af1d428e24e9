//go:build race

package simulation

import "runtime"

// With the race detector, timers of a bubble that two processors run at the same time share the
// detector's state of one goroutine (time.go, unlockAndRun: timers.raceCtx), and Go 1.26.8
// crashes from that now and then: SIGSEGV below maybeRunChan. The detector needs no second
// processor: it goes by what happens before what.
func init() { runtime.GOMAXPROCS(1) }
