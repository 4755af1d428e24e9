package mutants

import "github.com/zkverify/zkverify/histories"

// momentDefects show at one moment alone: between two steps, while something changes,
// or right after a reconnect.
var momentDefects = []Defect{
	{
		Name:      "mutant-double-barrier-lowest-last",
		Recipe:    histories.DoubleBarrier,
		Bug:       "Curator's double barrier",
		What:      "trusts that the member with the lowest name leaves last",
		Guarantee: "barriers",
	},
	{
		Name:      "mutant-guarded-new-session",
		Recipe:    histories.Mutex,
		Bug:       "a fence that is not up yet",
		What:      "does not look at the lock for the first second of a new session",
		Guarantee: "no lost update, guarded",
	},
}
