package mutants

import "github.com/zkverify/zkverify/histories"

var barrierDefects = []Defect{
	{
		Name:      "mutant-barrier-local-read",
		Recipe:    histories.Barrier,
		Bug:       "Curator's barrier on a server that lags behind",
		What:      "asks its own server whether the barrier is up, and not the leader",
		Guarantee: "barriers",
	},
	{
		Name:      "mutant-barrier-any-wakeup",
		Recipe:    histories.Barrier,
		Bug:       "CURATOR GH-1290",
		What:      "takes any wake-up for the removal of the barrier",
		Guarantee: "barriers",
	},
	{
		Name:      "mutant-barrier-sleeps",
		Recipe:    histories.Barrier,
		Bug:       "helix PR #44",
		What:      "waits for a barrier that was removed between the look and the watch",
		Guarantee: "progress",
	},
}
