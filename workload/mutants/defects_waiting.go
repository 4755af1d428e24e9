package mutants

import "github.com/zkverify/zkverify/histories"

var waitingDefects = []Defect{
	{
		Name:      "mutant-waits-for-nobody",
		Recipe:    histories.Mutex,
		Bug:       "helix PR #44",
		What:      "watches the one before it without looking whether that has gone since the list: then nobody wakes it",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-watch-lost",
		Recipe:    histories.Mutex,
		Bug:       "kazoo PR #170",
		What:      "does not set its watch again when the link has been down during the wait",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-event-dropped",
		Recipe:    histories.Mutex,
		Bug:       "ZOOKEEPER-3145",
		What:      "drops the event of its watch now and then, so that only its slow look at the queue finds out",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-watch-set-once",
		Recipe:    histories.Mutex,
		Bug:       "a watch fires once",
		What:      "sets no new watch when it was woken and it is not its turn yet, so that only its slow look at the queue finds out",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-expiry-ignored",
		Recipe:    histories.Mutex,
		Bug:       "twitter-commons #20",
		What:      "ignores the end of its session during the wait, as the event is not about the node that it waits for",
		Guarantee: "progress",
	},
}
