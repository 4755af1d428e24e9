package mutants

import "github.com/zkverify/zkverify/histories"

// queueDefects are in how the queue is read.
var queueDefects = []Defect{
	{
		Name:      "mutant-name-order",
		Recipe:    histories.Mutex,
		Bug:       "ZOOKEEPER-2931",
		What:      "orders the queue by the whole names of its nodes, random part included",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-numbers-as-text",
		Recipe:    histories.Mutex,
		Bug:       "ZOOKEEPER-4706, kazoo #606",
		What:      "orders the queue by its numbers as text, so that 10 comes before 9",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-number-wraps",
		Recipe:    histories.Mutex,
		Bug:       "ZOOKEEPER-4372, kazoo #730",
		What:      "reads the numbers of the queue into a type that is too small, where they wrap to negative ones",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-foreign-child",
		Recipe:    histories.Mutex,
		Bug:       "CURATOR-43",
		What:      "takes whatever lies in the lock's directory for a contender",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-restarted-sequence",
		Recipe:    histories.Mutex,
		Bug:       "zk-ruby #34",
		What:      "knows its node by the number, which comes again when the directory of an idle lock is deleted: a stale owner goes on deleting others' nodes",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-sequence-token",
		Recipe:    histories.Mutex,
		Bug:       "zk-ruby #34, ZOOKEEPER-4372",
		What:      "takes the number of the node for a fencing token, and deletes the directory of an idle lock",
		Guarantee: "fencing",
	},
	{
		Name:      "mutant-missing-parent",
		Recipe:    histories.Mutex,
		Bug:       "CURATOR-180, kazoo #61, #563",
		What:      "makes the directory of a lock once; when it was reaped, every acquire fails",
		Guarantee: "progress",
	},
}
