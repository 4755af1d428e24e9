package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
)

func multiLockProvocations() []Provocation {
	return []Provocation{{
		Name: "several-locks",
		What: "clients ask for the same locks in opposite orders, some for a while only, no faults",
		Config: workload.Config{
			Recipes: []histories.Recipe{histories.MultiLock},
			Clients: 5, Locks: 1, Duration: 5 * time.Second,
			Mix: cycle.Mix{
				HoldOn: -1, Try: 0.3, Timeout: 0.3, Cancel: 0.1, Crash: -1, Long: -1, Hold: 5 * time.Millisecond, Patience: 50 * time.Millisecond,
			},
			Schedule: calm(),
		},
		Mutants: []string{"mutant-multi-lock-in-order", "mutant-multi-lock-goes-on", "mutant-multi-lock-keeps-part"},
	}}
}
