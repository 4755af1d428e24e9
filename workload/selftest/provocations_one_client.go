package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

func oneClientProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = 5 * time.Millisecond
	return []Provocation{
		{
			Name: "lost-owners",
			What: "holders lose their sessions, and acquire again in the name of the owner that has lost",
			Config: workload.Config{
				Clients: 4, Locks: 2, Duration: 6 * time.Second, Mix: stubborn(),
				Schedule: aimed("expire-session", fault.AtHolder, 8, 600*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-reenters-lost"},
		},
		{
			Name: "lost-owners-of-several",
			What: "holders of several locks lose their sessions, and acquire them all again in the name of the owner that has lost",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.MultiLock},
				Clients: 4, Locks: 1, Duration: 6 * time.Second, Mix: stubborn(),
				Schedule: aimed("expire-session", fault.AtHolder, 8, 600*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-multi-reenters-lost"},
		},
		{
			Name:    "siblings",
			What:    "contenders of one client wait for each other, no faults",
			Config:  workload.Config{Clients: 4, Pairs: 2, Locks: 1, Duration: 5 * time.Second, SessionTimeout: longer, Mix: busy, Schedule: calm()},
			Mutants: []string{"mutant-sleeping-sibling"},
		},
	}
}
