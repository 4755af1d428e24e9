package selftest

import (
	"time"

	"github.com/zkverify/zkverify/workload"
)

func extremeProvocations() []Provocation {
	many := stubborn()
	many.Hold = time.Millisecond
	return []Provocation{
		{
			Name:    "multitude",
			What:    "hundreds wait for one lock, in a few sessions, no faults",
			Config:  workload.Config{Clients: 400, Sessions: 8, Locks: 1, Duration: 3 * time.Second, Mix: many, Schedule: calm()},
			Mutants: []string{"mutant-first-few"},
		},
	}
}
