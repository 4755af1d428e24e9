package mutants

import "github.com/zkverify/zkverify/histories"

var fairnessDefects = []Defect{
	{
		Name:      "mutant-new-place",
		Recipe:    histories.Mutex,
		Bug:       "a node that is created again",
		What:      "goes to the end of the queue when its link has been down during the wait",
		Guarantee: "fairness",
	},
	{
		Name:      "mutant-herd",
		Recipe:    histories.Mutex,
		Bug:       "the naive lock, CURATOR-716",
		What:      "has a queue and does not keep to it: all are woken, and the fastest holds the lock",
		Guarantee: "fairness",
	},
	{
		Name:      "mutant-token-kept",
		Recipe:    histories.Mutex,
		Bug:       "a token taken from an older grant",
		What:      "issues the token of its first grant again with every later one",
		Guarantee: "fencing",
	},
}
