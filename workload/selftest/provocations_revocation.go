package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
)

func revocationProvocations() []Provocation {
	long := stubborn()
	long.Hold = 150 * time.Millisecond // ten times that, with this recipe
	impatient := long                  // a waiter asks when its patience has ended
	impatient.Hold, impatient.Timeout, impatient.Patience = 200*time.Millisecond, 1, 500*time.Millisecond
	return []Provocation{
		{
			Name: "revocation",
			What: "holders that hold on for long are asked to release again and again, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Revocation},
				Clients: 12, Locks: 3, Duration: 9 * time.Second, Mix: impatient, Schedule: calm(),
			},
			Mutants: []string{
				"mutant-revocation-of-all", "mutant-revocation-data-stays", "mutant-revocation-disarmed", "mutant-revocation-forces", "mutant-revocation-of-previous",
			},
		},
		{
			// A client that has released a lock asks the next holder for it, at once, in a
			// third of its cycles. A lost request shows if the lease then lasts for a session
			// timeout: some one in ten hand-overs shows it, and a lock has one in more than a
			// second.
			Name: "one-request",
			What: "holders that hold on for long are asked to release once or twice, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Revocation},
				Clients: 16, Locks: 8, Duration: 15 * time.Second, Mix: long, Schedule: calm(),
			},
			Mutants: []string{"mutant-revocation-before-watch"},
		},
	}
}
