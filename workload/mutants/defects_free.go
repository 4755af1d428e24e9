package mutants

import "github.com/zkverify/zkverify/histories"

// freeDefects leave a lock in somebody's way that was given back.
var freeDefects = []Defect{
	{
		Name:      "mutant-release-unanswered",
		Recipe:    histories.Mutex,
		Bug:       "a delete in the background",
		What:      "Release returns before the servers have answered its delete",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-moody-try",
		Recipe:    histories.Mutex,
		Bug:       "a try that does not tell its own node from another's",
		What:      "one in fifty tries of a free lock is refused",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-close-leaves-session",
		Recipe:    histories.Mutex,
		Bug:       "a connection that is dropped instead of closed",
		What:      "Close leaves it to the servers to end the session, and what it held waits for that",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-goroutine-per-wait",
		Recipe:    histories.Mutex,
		Bug:       "a wait that is ended by the session alone",
		What:      "each cancelled wait leaves a goroutine until the session ends",
		Guarantee: "no leak",
	},
}
