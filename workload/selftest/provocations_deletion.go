package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

func deletionProvocations() []Provocation {
	hasty := stubborn()
	hasty.Hold, hasty.Ended = 5*time.Millisecond, 0.1
	nodes := func() *nemesis.Schedule {
		return aimed(histories.NodeDeletion, fault.AtHolder, 12, 400*time.Millisecond, 0)
	}
	several := []histories.Recipe{histories.MultiLock}
	long := stubborn()
	long.Hold, long.Rest = 350*time.Millisecond, 200*time.Millisecond
	return []Provocation{
		{
			Name:    "deleted-nodes",
			What:    "an administrator deletes nodes of holders",
			Config:  workload.Config{Clients: 4, Locks: 2, Duration: 6 * time.Second, Mix: stubborn(), Schedule: nodes()},
			Mutants: []string{"mutant-deaf-to-deletion"},
		},
		{
			Name:    "deleted-parts",
			What:    "an administrator deletes one node of holders of several locks",
			Config:  workload.Config{Recipes: several, Clients: 4, Locks: 1, Duration: 12 * time.Second, Mix: stubborn(), Schedule: aimed(histories.NodeDeletion, fault.AtHolder, 4, 2800*time.Millisecond, 0)},
			Mutants: []string{"mutant-multi-lost-late"},
		},
		{
			Name: "deleted-hand-overs",
			What: "an administrator deletes nodes of holders that would be handed on within a client",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Handoff},
				Clients: 8, Pairs: 4, Locks: 2, Duration: 8 * time.Second, Mix: stubborn(), Schedule: aimed(histories.NodeDeletion, fault.AtHolder, 28, 260*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-handoff-after-loss"},
		},
		{
			// The contender ahead releases when the session's last evidence is too old, and
			// before the waiter looks at the queue again.
			Name:    "deleted-waiters",
			What:    "an administrator deletes nodes of clients that wait",
			Config:  workload.Config{Clients: 24, Pairs: -1, Locks: 12, Duration: 42 * time.Second, SessionTimeout: 600 * time.Millisecond, Mix: long, Schedule: aimed(histories.NodeDeletion, fault.AtWaiter, 70, 600*time.Millisecond, 0)},
			Mutants: []string{"mutant-waits-for-no-beat"},
		},
		{
			Name:    "hasty-releases",
			What:    "some release with a context that has ended, no faults",
			Config:  workload.Config{Clients: 4, Locks: 1, Duration: 2 * time.Second, Mix: hasty, Schedule: calm()},
			Mutants: []string{"mutant-hasty-release"},
		},
		{
			Name:    "hasty-releases-of-several",
			What:    "some release several locks with a context that has ended, no faults",
			Config:  workload.Config{Recipes: several, Clients: 4, Locks: 1, Duration: 2 * time.Second, Mix: hasty, Schedule: calm()},
			Mutants: []string{"mutant-multi-hasty-release"},
		},
	}
}
