package selftest

import (
	"time"

	"github.com/zkverify/zkverify/workload"
)

func extremeProvocations() []Provocation {
	many := stubborn()
	many.Hold = 50 * time.Millisecond // a client that comes too early meets a holder
	return []Provocation{
		{
			Name:    "multitude",
			What:    "a hundred wait for one lock, in a few sessions, no faults",
			Config:  workload.Config{Clients: 100, Sessions: 4, Locks: 1, Duration: 9 * time.Second, Mix: many, Schedule: calm()},
			Mutants: []string{"mutant-first-few"},
		},
	}
}
