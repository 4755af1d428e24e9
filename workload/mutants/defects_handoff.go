package mutants

import "github.com/zkverify/zkverify/histories"

var handoffDefects = []Defect{
	{
		Name:      "mutant-handoff-for-ever",
		Recipe:    histories.Handoff,
		Bug:       "lock cohorting without its bound",
		What:      "hands the lock on within its client as long as somebody there wants it",
		Guarantee: "fairness",
	},
	{
		Name:      "mutant-handoff-after-loss",
		Recipe:    histories.Handoff,
		Bug:       "lock cohorting with locks that can be lost",
		What:      "goes on handing the lock on within its client when it has been lost",
		Guarantee: "fairness",
	},
	{
		Name:      "mutant-handoff-same-token",
		Recipe:    histories.Handoff,
		Bug:       "a token that is the node's alone",
		What:      "hands the lock on with the token of the one before",
		Guarantee: "fencing",
	},
}
