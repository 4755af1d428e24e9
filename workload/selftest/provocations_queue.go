package selftest

import (
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

// queueProvocations test the queue of a mutex: its order, and the waiters that a release wakes.
func queueProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = time.Millisecond
	return []Provocation{
		{
			Name: "rush",
			What: "many clients wait for a lock that is held for a moment only, no faults",
			Config: workload.Config{
				Clients: 10, Locks: 2, Duration: 3 * time.Second, Mix: busy, Schedule: calm(),
			},
			Mutants: []string{"mutant-waits-for-nobody", "mutant-herd", "mutant-token-kept"},
		},
		{
			Name: "naps",
			What: "clients wait for locks that are held for a moment only, no faults: who sleeps longer than that was not woken",
			Config: workload.Config{
				Clients: 8, Locks: 2, Duration: 6 * time.Second, SessionTimeout: longer, Mix: busy, Schedule: calm(),
			},
			Mutants: []string{"mutant-event-dropped", "mutant-watch-set-once"},
		},
		{
			Name: "cut-off-waiters",
			What: "waiters lose their links for a moment, and one its session",
			Config: workload.Config{
				Clients: 6, Locks: 2, Duration: 5 * time.Second, Mix: stubborn(),
				Schedule: steps(
					several("down", fault.AtWaiter, 6, 300*time.Millisecond, 330*time.Millisecond, 250*time.Millisecond),
					several("expire-silence", fault.AtWaiter, 2, 2300*time.Millisecond, 0, 1800*time.Millisecond),
				),
			},
			Mutants: []string{"mutant-watch-lost", "mutant-expiry-ignored", "mutant-new-place"},
		},
	}
}
