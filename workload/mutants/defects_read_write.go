package mutants

import "github.com/zkverify/zkverify/histories"

var readWriteDefects = []Defect{
	{
		Name:      "mutant-downgrade-behind",
		Recipe:    histories.ReadWrite,
		Bug:       "CURATOR-621, -276",
		What:      "a writer that downgrades reads at once, from a place behind queued writers",
		Guarantee: "read/write",
	},
	{
		Name:      "mutant-local-read",
		Recipe:    histories.ReadWrite,
		Bug:       "Curator's InterProcessReadWriteLock",
		What:      "a writer whose session was lost downgrades by what it remembers",
		Guarantee: "read/write",
	},
	{
		Name:      "mutant-later-writer",
		Recipe:    histories.ReadWrite,
		Bug:       "kazoo #649",
		What:      "a reader waits for a writer that queued behind it",
		Guarantee: "progress",
	},
}
