package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

func readWriteProvocations() []Provocation {
	recipe := []histories.Recipe{histories.ReadWrite}
	mixed := stubborn()
	mixed.Hold = 5 * time.Millisecond
	// A writer pauses before it downgrades, for as long as the lock can be taken from it.
	robbed := stubborn()
	robbed.Hold, robbed.HoldOn, robbed.Race, robbed.Write, robbed.Cross = 300*time.Millisecond, -1, 1, 0.8, 1
	return []Provocation{
		{
			Name:    "readers-and-writers",
			What:    "readers and writers take turns, some writers downgrade, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: mixed, Schedule: calm()},
			Mutants: []string{"mutant-downgrade-behind", "mutant-later-writer", "mutant-downgraded-token"},
		},
		{
			Name: "stolen-writers",
			What: "sessions of writers are forced to expire just before they downgrade",
			Config: workload.Config{
				Recipes: recipe, Clients: 6, Locks: 2, Duration: 6 * time.Second, Mix: robbed,
				Schedule: aimed("expire-session", fault.AtHolder, 40, 140*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-local-read"},
		},
	}
}
