package histories

import "time"

// ednSpace is the namespace of the keys that Jepsen does not have.
const ednSpace = "zkverify/"

// jepsen turns forms into a history.
type jepsen struct {
	h       *History
	valid   *validator
	started bool
	ours    bool       // the file has our header
	foreign []jepsenOp // of a file that has not
	nextID  int
	active  map[string]*Fault
	last    time.Duration
}

func newJepsen() *jepsen {
	return &jepsen{
		h:      &History{Header: Header{Version: Version, Recipe: string(Mutex), Target: "jepsen", ReleaseNotHeld: NotHeldViolation}},
		valid:  newValidator(nil),
		active: map[string]*Fault{},
	}
}
