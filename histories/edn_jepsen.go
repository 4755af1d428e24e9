package histories

import "time"

// ednSpace is the namespace of the keys that Jepsen does not have.
const ednSpace = "zkverify/"

// jepsen turns operations into events.
type jepsen struct {
	header Header
	ours   bool // the file has our header
	valid  *validator
	shared reader // the strings of the events before
	nextID int
	active map[string]*Fault
	begun  bool          // there was an operation
	last   time.Duration // its time
	line   int           // that on which it ends
}

func newJepsen() jepsen {
	return jepsen{
		header: Header{Version: Version, Recipe: string(Mutex), Target: "jepsen", ReleaseNotHeld: NotHeldViolation},
		valid:  newValidator(nil),
		active: map[string]*Fault{},
	}
}
