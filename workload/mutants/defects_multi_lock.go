package mutants

import "github.com/zkverify/zkverify/histories"

var multiLockDefects = []Defect{
	{
		Name:      "mutant-multi-lock-in-order",
		Recipe:    histories.MultiLock,
		Bug:       "Curator's multi-lock",
		What:      "acquires the locks one after the other in the order in which they were named",
		Guarantee: "multi-lock",
	},
	{
		Name:      "mutant-multi-lock-goes-on",
		Recipe:    histories.MultiLock,
		Bug:       "Curator's multi-lock, vitess #8309",
		What:      "goes on when one of the locks was not acquired, and says that it has them all",
		Guarantee: "multi-lock",
	},
	{
		Name:      "mutant-multi-lock-keeps-part",
		Recipe:    histories.MultiLock,
		Bug:       "Curator's multi-lock",
		What:      "keeps the locks that it had got when it fails to get the others",
		Guarantee: "progress",
	},
}
