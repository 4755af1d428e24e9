package mutants

import "github.com/zkverify/zkverify/histories"

// extremeDefects show at the ends of ranges.
var extremeDefects = []Defect{
	{
		Name:      "mutant-first-few",
		Recipe:    histories.Mutex,
		Bug:       "a list of fixed size",
		What:      "looks at the first 64 nodes of the queue alone",
		Guarantee: "mutual exclusion",
	},
}
