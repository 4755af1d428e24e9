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
	{
		Name:      "mutant-three-answers",
		Recipe:    histories.Mutex,
		Bug:       "a leader that answers before it pings (spec/lease.pml, a rule that was tried)",
		What:      "counts the first of three answers that lie half a tick apart and end in a write: a leader that stood still may answer each of them before it pings",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-short-gap",
		Recipe:    histories.Mutex,
		Bug:       "a ping that was not due (spec/lease.pml, a rule that was tried)",
		What:      "counts the first of five answers between which no half tick lies: the leader need not have asked the follower since",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-unwritten-chain",
		Recipe:    histories.Mutex,
		Bug:       "a deposed leader that answers (spec/lease.pml, a rule that was tried)",
		What:      "counts a chain of syncs that no write has ended: another leader may have begun since, and a deposed one answers a sync too",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-eager-reconnect",
		Recipe:    histories.Mutex,
		Bug:       "a deposed leader that lets a session go on (spec/lease.pml, a rule that was tried)",
		What:      "counts a reconnect at once, without a write: a deposed leader answers that too",
		Guarantee: "loss is told",
	},
}
