package mutants

import "github.com/zkverify/zkverify/histories"

var electionDefects = []Defect{
	{
		Name:      "mutant-latch-suspended",
		Recipe:    histories.Election,
		Bug:       "Netflix/curator #216",
		What:      "a leader that cannot reach the servers goes on to lead until it hears that its session has ended",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-latch-reinstated",
		Recipe:    histories.Election,
		Bug:       "a candidate that is started twice",
		What:      "a leader that campaigns is elected at once, and leads twice",
		Guarantee: "reentrancy",
	},
	{
		Name:      "mutant-latch-name-order",
		Recipe:    histories.Election,
		Bug:       "ZOOKEEPER-2931",
		What:      "sorts the candidates by their whole names: one that comes later may be put before the leader",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-latch-left-behind",
		Recipe:    histories.Election,
		Bug:       "CURATOR-202",
		What:      "a candidate that withdraws leaves its node behind, which is elected when its turn comes",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-latch-session-epoch",
		Recipe:    histories.Election,
		Bug:       "a leader's epoch that is that of its session",
		What:      "all terms of a session have the token of its first",
		Guarantee: "fencing",
	},
	{
		Name:      "mutant-observer-falls-back",
		Recipe:    histories.Election,
		Bug:       "an observer that takes no leader for an answer that is missing",
		What:      "an observer that still sees no leader when it looks again tells of the last one it knew",
		Guarantee: "observers",
	},
}
