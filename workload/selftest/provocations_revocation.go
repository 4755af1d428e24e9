package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
)

func revocationProvocations() []Provocation {
	long := stubborn()
	long.Hold = 200 * time.Millisecond // ten times that, with this recipe
	impatient := long                  // a waiter asks when its patience has ended
	impatient.Timeout, impatient.Patience = 1, 500*time.Millisecond
	return []Provocation{
		{
			Name: "revocation",
			What: "holders that hold on for long are asked to release again and again, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Revocation},
				Clients: 16, Locks: 3, Duration: 6 * time.Second, Mix: impatient, Schedule: calm(),
			},
			Mutants: []string{
				"mutant-revocation-of-all", "mutant-revocation-data-stays", "mutant-revocation-disarmed", "mutant-revocation-forces", "mutant-revocation-of-previous",
			},
		},
		{
			Name: "one-request",
			What: "holders that hold on for long are asked to release once or twice, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Revocation},
				Clients: 16, Locks: 8, Duration: 8 * time.Second, Mix: long, Schedule: calm(),
			},
			Mutants: []string{"mutant-revocation-before-watch"},
		},
	}
}
