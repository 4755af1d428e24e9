package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

func electionProvocations() []Provocation {
	recipe := []histories.Recipe{histories.Election}
	again, fickle, rare := stubborn(), stubborn(), stubborn()
	again.Reenter, again.Hold = 1, 10*time.Millisecond
	fickle.Cancel, fickle.Hold, fickle.Patience = 0.5, 30*time.Millisecond, 20*time.Millisecond
	// No client leads for longer than until an observer looks again.
	rare.Hold, rare.Rest, rare.Patience = time.Millisecond, 6*time.Second, 5*time.Second
	return []Provocation{
		{
			Name: "silent-leader",
			What: "the leader's session expires in silence, and the leader goes on",
			Config: workload.Config{
				Recipes: recipe, Clients: 8, Locks: 2, Duration: 7 * time.Second, Mix: slow(),
				Schedule: aimed("expire-silence", fault.AtHolder, 5, 1200*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-latch-suspended"},
		},
		{
			Name:    "many-terms",
			What:    "leaders come and go, and campaign once more while they lead, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: again, Schedule: calm()},
			Mutants: []string{"mutant-latch-reinstated", "mutant-latch-name-order", "mutant-latch-session-epoch"},
		},
		{
			Name:    "fickle-candidates",
			What:    "candidates withdraw, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: fickle, Schedule: calm()},
			Mutants: []string{"mutant-latch-left-behind"},
		},
		{
			Name:    "rare-leaders",
			What:    "there is no leader for seconds, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 8, Locks: 1, Duration: 12 * time.Second, Mix: rare, Schedule: calm()},
			Mutants: []string{"mutant-observer-falls-back"},
		},
	}
}
