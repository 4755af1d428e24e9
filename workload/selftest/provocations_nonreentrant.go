package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

func nonReentrantProvocations() []Provocation {
	recipe := []histories.Recipe{histories.NonReentrant}
	again := stubborn()
	again.Reenter = 1
	return []Provocation{
		{
			Name:    "second-entry",
			What:    "every holder asks for the lock again, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 3, Locks: 1, Duration: 2 * time.Second, Mix: again, Schedule: calm()},
			Mutants: []string{"mutant-second-entry"},
		},
		{
			Name: "silent-holder-nonreentrant",
			What: "the holder's session expires in silence, and the holder holds on",
			Config: workload.Config{
				Recipes: recipe, Clients: 8, Locks: 2, Duration: 11 * time.Second, Mix: slow(),
				Schedule: aimed("expire-silence", fault.AtHolder, 8, 1200*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-others-lease"},
		},
	}
}
