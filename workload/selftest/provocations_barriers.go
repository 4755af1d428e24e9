package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

// barrierProvocations make clients wait at barriers.
func barrierProvocations() []Provocation {
	waits := stubborn()
	waits.Hold, waits.Patience = 50*time.Millisecond, 2*time.Second
	waits.HoldOn = -1
	brief := waits
	brief.Hold, brief.Patience, brief.Timeout = 10*time.Millisecond, 100*time.Millisecond, 0.9 // and at all barriers
	flicker := waits
	flicker.Hold = 200 * time.Microsecond
	return []Provocation{
		{
			Name: "barriers",
			What: "clients wait at barriers, and lose their links for a moment",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Barrier},
				Clients: 16, Locks: 2, Duration: 6 * time.Second, Mix: waits,
				Schedule: several("down", fault.AtWaiter, 9, 300*time.Millisecond, 550*time.Millisecond, 250*time.Millisecond),
			},
			Mutants: []string{"mutant-barrier-any-wakeup"},
		},
		{
			Name: "flickering-barrier",
			What: "clients wait at a barrier that is up for a moment, again and again, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Barrier},
				Clients: 10, Locks: 1, Duration: 3 * time.Second, Mix: flicker, Schedule: calm(),
			},
			Mutants: []string{"mutant-barrier-sleeps"},
		},
		{
			Name: "barrier-follower",
			What: "the follower that waiters at barriers are linked to is cut off from its peers",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Barrier},
				Clients: 30, Locks: 6, Duration: 9 * time.Second, Mix: brief,
				Schedule: several("isolate-holder-follower", fault.AtWaiter, 3, 500*time.Millisecond, 2800*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-barrier-local-read"},
		},
	}
}

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
