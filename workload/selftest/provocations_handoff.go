package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
)

func handoffProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = 5 * time.Millisecond
	return []Provocation{
		{
			Name: "hand-overs",
			What: "contenders of two clients hand the lock on, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Handoff},
				Clients: 4, Pairs: 2, Locks: 1, Duration: 3 * time.Second, Mix: busy, Schedule: calm(),
			},
			Mutants: []string{"mutant-handoff-for-ever", "mutant-handoff-same-token"},
		},
	}
}
