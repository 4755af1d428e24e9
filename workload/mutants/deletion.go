package mutants

import "github.com/zkverify/zkverify/histories"

// deletionDefects are about nodes that another client deletes, and about contexts that have
// ended.
var deletionDefects = []Defect{
	{"mutant-deaf-to-deletion", histories.Mutex, "loss is told",
		"zk.Lock, which never looks at its node again",
		"does not tell a holder whose node was deleted by an administrator"},
	{"mutant-multi-lost-late", histories.MultiLock, "loss is told",
		"several locks as if they were one",
		"tells a holder of several locks of a loss when all of them are lost"},
	{"mutant-waits-for-no-beat", histories.Mutex, "progress",
		"a heartbeat of nodes, when the only node is gone",
		"whose node was deleted while it waited waits for a heartbeat before its grant, and has nothing to send one for"},
	{"mutant-hasty-release", histories.Mutex, "progress",
		"a clean-up under the caller's context, as vitess #15756",
		"a release whose context has ended releases nothing"},
	{"mutant-multi-hasty-release", histories.MultiLock, "progress",
		"a clean-up under the caller's context, as vitess #15756",
		"a release of several locks whose context has ended releases the first"},
}

// deletionEdits are the edits of deletionDefects, except mutant-deaf-to-deletion, which is
// among the sessionEdits.
var deletionEdits = []edit{
	// mutant-multi-lost-late
	{"multi_lease.go", "	g.once.Do(func() {\n", `	if g.leases[0].hold.S.Defect() == "mutant-multi-lost-late" {
		for _, l := range g.leases {
			select {
			case <-l.hold.lost:
			default:
				return
			}
		}
	}
	g.once.Do(func() {
`},

	// mutant-multi-hasty-release
	{"multi_lease.go", "	for _, l := range g.leases {\n		l.start()\n", `	if ctx.Err() != nil && g.leases[0].hold.S.Defect() == "mutant-multi-hasty-release" {
		g.cancel(ErrNotHeld)
		return g.leases[0].Release(ctx)
	}
	for _, l := range g.leases {
		l.start()
`},

	// mutant-hasty-release
	{"lease.go", "	l.start()\n	select {\n	case <-l.result:\n		return l.err\n	default:\n", `	if ctx.Err() != nil && l.hold.S.Defect() == "mutant-hasty-release" {
		return opError("release", l.Path(), context.Cause(ctx))
	}
	l.start()
	select {
	case <-l.result:
		return l.err
	default:
`},

	// mutant-waits-for-no-beat, and those whose grant is for a node that a heartbeat may have
	// found gone
	{"internal/session/session.go", "		if !there {\n", `		switch s.Defect() {
		case "mutant-waits-for-no-beat", "mutant-own-node-missing", "mutant-stale-ownership", "mutant-handoff-after-loss":
			there = true
		}
		if !there {
`},
}
