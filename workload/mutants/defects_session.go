package mutants

import "github.com/zkverify/zkverify/histories"

// sessionDefects are in what a lock makes of the end of its session.
var sessionDefects = []Defect{
	{
		Name:      "mutant-own-node-missing",
		Recipe:    histories.Mutex,
		Bug:       "go-zookeeper's zk.Lock",
		What:      "its session ends while it waits, it does not find its node in the queue, and takes that for its turn",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-adopted-node",
		Recipe:    histories.Mutex,
		Bug:       "CURATOR-498",
		What:      "repeats a create in the next session, and adopts the node of the last one, which vanishes with it",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-unguarded-write",
		Recipe:    histories.Mutex,
		Bug:       "the usual way to write beside a lock: a check, then a write of the connection",
		What:      "writes to ZooKeeper in whatever session there is, without a look at its lock node",
		Guarantee: "no lost update, guarded",
	},
	{
		Name:      "mutant-never-told",
		Recipe:    histories.Mutex,
		Bug:       "CURATOR-604, -206",
		What:      "does not tell a holder that its session has ended",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-no-deadline",
		Recipe:    histories.Mutex,
		Bug:       "etcd #10811, Redisson #2665",
		What:      "keeps no deadline of its own: a holder hears of the end of its session when it reaches a server again",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-late-loss",
		Recipe:    histories.Mutex,
		Bug:       "consul #18271",
		What:      "believes in a silent session for three timeouts instead of one",
		Guarantee: "loss is told",
	},
	{
		Name:      "mutant-silent-new-session",
		Recipe:    histories.Mutex,
		Bug:       "ClickHouse Keeper #116690",
		What:      "goes on in a new session as if it were the old one",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-waits-on",
		Recipe:    histories.Mutex,
		Bug:       "etcd #19597, #17470",
		What:      "a waiter whose session ends waits on in it forever",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-stale-ownership",
		Recipe:    histories.Mutex,
		Bug:       "Netflix/curator 1.1.2",
		What:      "a release that is not answered leaves the lock with its owner, whose next acquire succeeds without a node",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-hasty-reconnect",
		Recipe:    histories.Mutex,
		Bug:       "go-zookeeper #36, #117",
		What:      "tries to connect again and again without a wait",
		Guarantee: "reconnects politely",
	},
}
