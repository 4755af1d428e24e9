package facts

import (
	"strconv"
	"time"
)

// Process holds the facts of a process.
type Process struct {
	Number  int
	Name    string        // see histories.Header.Name
	owner   string        // the owner of its operations that name none
	Began   time.Duration // its first invocation; forever if it made none
	Retired time.Duration // forever if it was not retired
	Open    []*Op
	parts   map[string]*Op // the parts of an open operation over many locks, by lock: see OpenOn
	Holds   Held           // the holds that it has
	closing []*Hold        // the holds that it releases by closing its client
	last    lastOwnership
	busy    bool // it has an open operation or a hold, or had one in this window
}

// Gone reports whether p has come to its end.
func (p *Process) Gone() bool { return p.Retired != Forever }

// OpenOn returns the operations that are open on a lock: one, or none.
func (p *Process) OpenOn(lock string) []*Op {
	if p.parts != nil {
		if o := p.parts[lock]; o != nil {
			return o.alone[:]
		}
		return nil
	}
	for i, o := range p.Open {
		if o.Lock == lock {
			return p.Open[i : i+1]
		}
	}
	return nil
}

// begins sets the open operations, none when an operation ends.
func (p *Process) begins(ops []*Op) {
	const few = 8
	if p.Open, p.parts = ops, nil; len(ops) > few {
		p.parts = make(map[string]*Op, len(ops))
		for _, o := range ops {
			p.parts[o.Lock] = o
		}
	}
}

// defaultOwner returns the owner of an operation that names none: its process.
func defaultOwner(process int) string { return "process " + strconv.Itoa(process) }
