package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

func momentProvocations() []Provocation {
	robbed := stubborn()
	robbed.Guarded = 1
	broken := stubborn()
	broken.Hold = 100 * time.Millisecond
	rounds := []histories.Recipe{histories.DoubleBarrier}
	return []Provocation{
		{
			Name: "members-on-their-way",
			What: "members of a double barrier crash, and others stay inside for longer than their sessions live; no faults",
			Config: workload.Config{
				Recipes: rounds, Clients: 24, Locks: 8, Duration: 14 * time.Second, Mix: broken, Schedule: calm(),
			},
			Mutants: []string{"mutant-double-barrier-lowest-last"},
		},
		{
			Name: "robbed-writers",
			What: "holders whose session was forced to expire write to ZooKeeper as soon as they have another",
			Config: workload.Config{
				Clients: 4, Locks: 1, Duration: 8 * time.Second, Mix: robbed,
				Schedule: aimed("expire-session", fault.AtHolder, 9, 800*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-guarded-new-session"},
		},
	}
}
