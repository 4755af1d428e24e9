package mutants

import "github.com/zkverify/zkverify/histories"

// evidenceDefects are in what a client takes for evidence that its session lives.
var evidenceDefects = []Defect{
	{
		Name:      "mutant-write-proves-itself",
		Recipe:    histories.Mutex,
		Bug:       "a write that is taken for a touch of its session",
		What:      "counts each confirmed write itself: a follower forwards it, and the leader does not touch the session",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-young-touch",
		Recipe:    histories.Mutex,
		Bug:       "a request that its server has not told the leader of",
		What:      "counts a request that a write follows at once: the follower need not have told the leader of it",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-clocked-follower",
		Recipe:    histories.Mutex,
		Bug:       "a follower that is thought to report by a clock of its own (the first releases of these locks)",
		What:      "counts a request of any kind when a write that was sent a tick later is confirmed: a leader that stood still has not asked the follower in between",
		Guarantee: "mutual exclusion",
	},
}
