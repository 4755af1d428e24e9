package facts

import (
	"strconv"
	"time"
)

// Process is what is known of a process.
type Process struct {
	Number  int
	owner   string        // of its operations that name none
	Began   time.Duration // its first invocation; forever if it made none
	Retired time.Duration // forever if it was not
	Open    []*Op
	Holds   Held    // that it has
	closing []*Hold // that it gives back by closing its client
	last    lastOwnership
	busy    bool // it has something open, or holds, or had in this window
}

// Gone reports whether p has come to its end.
func (p *Process) Gone() bool { return p.Retired != Forever }

// defaultOwner is the owner of an operation that names none: its process.
func defaultOwner(process int) string { return "process " + strconv.Itoa(process) }
