package mutants

import "github.com/zkverify/zkverify/histories"

// oneClientDefects show among the contenders of one client, and of one owner.
var oneClientDefects = []Defect{
	{
		Name:      "mutant-reenters-lost",
		Recipe:    histories.Mutex,
		Bug:       "ownership that only the process keeps, as Curator's threadData",
		What:      "an owner re-enters a hold that was lost",
		Guarantee: "reentrancy",
	},
	{
		Name:      "mutant-multi-reenters-lost",
		Recipe:    histories.MultiLock,
		Bug:       "ownership that the context alone carries",
		What:      "an owner re-enters several locks, one of which was lost",
		Guarantee: "reentrancy",
	},
	{
		Name:      "mutant-sleeping-sibling",
		Recipe:    histories.Mutex,
		Bug:       "a wake-up that is left to the watch",
		What:      "contenders of one client that wait for each other are never woken",
		Guarantee: "progress",
	},
}
