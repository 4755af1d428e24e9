package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
)

func permitProvocations() []Provocation {
	patient := stubborn()
	patient.Hold = 2 * time.Millisecond
	slow := stubborn()
	slow.Hold = 8 * time.Millisecond
	hasty := cycle.Mix{HoldOn: -1, Try: 0.1, Timeout: 0.4, Cancel: 0.3, Crash: -1, Long: -1, Hold: time.Millisecond, Patience: 60 * time.Millisecond}
	return []Provocation{
		{
			Name: "patient-permits",
			What: "clients wait for one or several permits until they get them, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Semaphore},
				Clients: 6, Locks: 1, Duration: 3 * time.Second, Mix: patient, Schedule: calm(),
			},
			Mutants: []string{
				"mutant-semaphore-no-queue", "mutant-semaphore-counts-nodes", "mutant-semaphore-one-by-one", "mutant-semaphore-releases-one",
			},
		},
		{
			Name: "hasty-permits",
			What: "waits for permits are cancelled on slow links, and replies are lost",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Semaphore},
				Clients: 6, Locks: 2, Duration: 6 * time.Second, Mix: hasty,
				Schedule: steps(
					several("latency", fault.AtAnyone, 5, 200*time.Millisecond, time.Second, 1200*time.Millisecond),
					several("replies-lost", fault.AtAnyone, 14, 300*time.Millisecond, 400*time.Millisecond, 300*time.Millisecond),
				),
			},
			Mutants: []string{"mutant-semaphore-cancelled"},
		},
		{
			// With more semaphores than clients the operation under way is mostly an acquire of
			// permits.
			Name: "unanswered-permits",
			What: "there are permits for all, and the replies to those who take them are lost",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Semaphore},
				Clients: 6, Locks: 8, Duration: 10 * time.Second, Mix: patient,
				Schedule: several("replies-lost", fault.AtWaiter, 36, 250*time.Millisecond, 260*time.Millisecond, 250*time.Millisecond),
			},
			Mutants: []string{"mutant-semaphore-unanswered"},
		},
		{
			Name: "changing-size",
			What: "clients wait for permits of a semaphore whose size is changed, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.SharedSemaphore},
				Clients: 5, Locks: 1, Duration: 5 * time.Second, SessionTimeout: longer, Mix: slow, Schedule: calm(),
			},
			Mutants: []string{
				"mutant-semaphore-raise-unnoticed", "mutant-semaphore-return-unnoticed", "mutant-semaphore-size-grows", "mutant-semaphore-no-new-count",
			},
		},
	}
}
