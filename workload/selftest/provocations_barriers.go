package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

// barrierProvocations have clients wait at barriers.
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
				Clients: 12, Locks: 2, Duration: 4 * time.Second, Mix: waits,
				Schedule: several("down", fault.AtWaiter, 6, 300*time.Millisecond, 550*time.Millisecond, 250*time.Millisecond),
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
			// The others write fast, and the follower hears of it a trip later: a wait that
			// begins there as soon as the barrier has been put up finds none.
			Name: "barrier-follower",
			What: "a follower that waiters at barriers are linked to is slow to hear from its peers",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Barrier},
				Clients: 24, Locks: 24, Duration: 12 * time.Second, Mix: brief,
				Schedule: slowFollower(300*time.Millisecond, 11500*time.Millisecond, 60*time.Millisecond),
			},
			Mutants: []string{"mutant-barrier-local-read"},
		},
	}
}
