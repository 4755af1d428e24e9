package mutants

import "github.com/zkverify/zkverify/histories"

// deletionDefects are of nodes that somebody else deletes, and of contexts that have
// ended.
var deletionDefects = []Defect{
	{
		Name:      "mutant-deaf-to-deletion",
		Recipe:    histories.Mutex,
		Bug:       "zk.Lock, which never looks at its node again",
		What:      "does not tell a holder whose node was deleted by an administrator",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-multi-lost-late",
		Recipe:    histories.MultiLock,
		Bug:       "several locks as if they were one",
		What:      "tells a holder of several locks of a loss when all of them are lost",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-waits-for-no-beat",
		Recipe:    histories.Mutex,
		Bug:       "a heartbeat of nodes, when the only node is gone",
		What:      "whose node was deleted while it waited waits for a heartbeat before its grant, and has nothing to send one for",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-hasty-release",
		Recipe:    histories.Mutex,
		Bug:       "a clean-up under the caller's context, as vitess #15756",
		What:      "a release whose context has ended releases nothing",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-multi-hasty-release",
		Recipe:    histories.MultiLock,
		Bug:       "a clean-up under the caller's context, as vitess #15756",
		What:      "a release of several locks whose context has ended releases the first",
		Guarantee: "progress",
	},
}
