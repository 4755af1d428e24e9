package selftest

import (
	"slices"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/mutants"
)

// knownBad are bad locks that are no mutants.
var knownBad = []mutants.Defect{
	{
		Name: "zk-lock", Recipe: histories.Mutex, Bug: "the Go client's own lock, as it is",
		What:      "never hears that its session has ended",
		Guarantee: checker.MutualExclusion,
	},
	{
		Name: "naive", Recipe: histories.Mutex, Bug: "the textbook's first lock",
		What:      "one ephemeral node for all; its holder never hears that its session has ended",
		Guarantee: checker.MutualExclusion,
	},
	{
		Name: "plain", Recipe: histories.Mutex, Bug: "the textbook's second lock",
		What:      "a queue of sequential nodes; its holder never hears that its session has ended",
		Guarantee: checker.MutualExclusion,
	},
	{
		Name: "plain-lists-once", Recipe: histories.Mutex, Bug: "the textbook's second lock, with a mistake",
		What:      "takes the lock when the node before its own is gone, which may have been a waiter's",
		Guarantee: checker.MutualExclusion,
	},
}

// Known returns the defect of a target that is known to be bad; ok is false for others.
func Known(target string) (d mutants.Defect, ok bool) {
	for _, d := range slices.Concat(mutants.Defects(), knownBad) {
		if d.Name == target {
			return d, true
		}
	}
	return d, false
}

func guaranteeFor(target string) string {
	d, _ := Known(target)
	return d.Guarantee
}
