package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

// doubleBarrierProvocations make clients enter double barriers and leave them, round after
// round.
func doubleBarrierProvocations() []Provocation {
	together := stubborn()
	broken := stubborn()
	broken.Crash = 0.7
	return []Provocation{
		{
			Name: "rounds",
			What: "clients enter a double barrier and leave it, round after round, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.DoubleBarrier},
				Clients: 6, Locks: 1, Duration: 4 * time.Second, Mix: together, Schedule: calm(),
			},
			Mutants: []string{"mutant-double-barrier-any-wakeup", "mutant-double-barrier-shared-watch", "mutant-double-barrier-leaves-alone"},
		},
		{
			Name: "broken-rounds",
			What: "members of a double barrier crash inside it, and are cut off on their way in",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.DoubleBarrier},
				Clients: 6, Locks: 2, Duration: 8 * time.Second, Mix: broken,
				Schedule: several("black-hole", fault.AtAnyone, 7, 300*time.Millisecond, time.Second, 800*time.Millisecond),
			},
			Mutants: []string{"mutant-double-barrier-ghost", "mutant-double-barrier-stale-ready"},
		},
		{
			Name: "turned-back",
			What: "the last member of a double barrier turns back when all are there, in one round of five, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.DoubleBarrier},
				Clients: 3, Locks: 1, Duration: 6 * time.Second, Schedule: calm(),
			},
			Mutants: []string{"mutant-double-barrier-once-full"},
		},
	}
}
