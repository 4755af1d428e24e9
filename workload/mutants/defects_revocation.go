package mutants

import "github.com/zkverify/zkverify/histories"

var revocationDefects = []Defect{
	{
		Name:      "mutant-revocation-before-watch",
		Recipe:    histories.Revocation,
		Bug:       "Curator's revocation",
		What:      "does not look for a request when it sets its watch: one that came before is lost",
		Guarantee: "revocation",
	},
	{
		Name:      "mutant-revocation-of-all",
		Recipe:    histories.Revocation,
		Bug:       "Curator's revocation",
		What:      "asks those who wait for the lock as well",
		Guarantee: "revocation",
	},
	{
		Name:      "mutant-revocation-data-stays",
		Recipe:    histories.Revocation,
		Bug:       "Curator's revocation",
		What:      "does not put the data of the lock back: a second request looks like the first",
		Guarantee: "revocation",
	},
	{
		Name:      "mutant-revocation-disarmed",
		Recipe:    histories.Revocation,
		Bug:       "Curator's revocation",
		What:      "the release of one lease takes away the listeners of the next one on the same lock",
		Guarantee: "revocation",
	},
	{
		Name:      "mutant-revocation-forces",
		Recipe:    histories.Revocation,
		Bug:       "a revocation that does not ask",
		What:      "deletes the node of the holder instead of asking it",
		Guarantee: "revocation",
	},
	{
		Name:      "mutant-revocation-of-previous",
		Recipe:    histories.Revocation,
		Bug:       "Curator's revocation",
		What:      "tells the client's previous lease on the same lock, which was given back, as well",
		Guarantee: "revocation",
	},
}
