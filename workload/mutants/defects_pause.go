package mutants

import "github.com/zkverify/zkverify/histories"

// pauseDefects are in what a lock makes of a pause of its process.
var pauseDefects = []Defect{
	{
		Name:      "mutant-forgives-pause",
		Recipe:    histories.Mutex,
		Bug:       "a pause that is taken for a slip of the clock",
		What:      "a client that wakes long after the deadline of its lease tells of the loss a session timeout later",
		Guarantee: "loss is told",
	},
}
