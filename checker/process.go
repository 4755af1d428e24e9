package checker

import (
	"strconv"
	"time"
)

// process is what is known of a process.
type process struct {
	number  int
	owner   string        // of its operations that name none
	began   time.Duration // its first invocation; forever if it made none
	retired time.Duration // forever if it was not
	open    []*op
	holds   []*hold // that it has
	closing []*hold // that it gives back by closing its client
	last    lastOwnership
}

// gone reports whether p has come to its end.
func (p *process) gone() bool { return p.retired != forever }

// defaultOwner is the owner of an operation that names none: its process.
func defaultOwner(process int) string { return "process " + strconv.Itoa(process) }
