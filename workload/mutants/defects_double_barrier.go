package mutants

import "github.com/zkverify/zkverify/histories"

var doubleBarrierDefects = []Defect{
	{
		Name:      "mutant-double-barrier-any-wakeup",
		Recipe:    histories.DoubleBarrier,
		Bug:       "CURATOR GH-1290",
		What:      "takes any change among the members for the beginning of the round",
		Guarantee: "barriers",
	},
	{
		Name:      "mutant-double-barrier-ghost",
		Recipe:    histories.DoubleBarrier,
		Bug:       "CURATOR-318, CURATOR-80",
		What:      "an enter that timed out leaves its member behind",
		Guarantee: "no leak",
	},
	{
		Name:      "mutant-double-barrier-shared-watch",
		Recipe:    histories.DoubleBarrier,
		Bug:       "Curator PR #416",
		What:      "a member that leaves is woken by the watch of its enter, as soon as any other leaves",
		Guarantee: "barriers",
	},
	{
		Name:      "mutant-double-barrier-stale-ready",
		Recipe:    histories.DoubleBarrier,
		Bug:       "Curator's double barrier",
		What:      "enters when there is a ready node, also one that an earlier round has left behind",
		Guarantee: "barriers",
	},
	{
		Name:      "mutant-double-barrier-leaves-alone",
		Recipe:    histories.DoubleBarrier,
		Bug:       "a double barrier without the end",
		What:      "leaves without waiting for the others",
		Guarantee: "barriers",
	},
	{
		Name:      "mutant-double-barrier-once-full",
		Recipe:    histories.DoubleBarrier,
		Bug:       "CURATOR-318, a count that is remembered",
		What:      "begins a round with who is left when all were there once",
		Guarantee: "barriers",
	},
}
