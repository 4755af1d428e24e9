package mutants

import "github.com/zkverify/zkverify/histories"

// oneClientDefects show among the contenders of one client, and of one owner.
var oneClientDefects = []Defect{
	{"mutant-reenters-lost", histories.Mutex, "reentrancy",
		"ownership that only the process keeps, as Curator's threadData",
		"an owner re-enters a hold that was lost"},
	{"mutant-multi-reenters-lost", histories.MultiLock, "reentrancy",
		"ownership that the context alone carries",
		"an owner re-enters several locks, one of which was lost"},
	{"mutant-sleeping-sibling", histories.Mutex, "progress",
		"a wake-up that is left to the watch",
		"contenders of one client that wait for each other are never woken"},
}

// oneClientEdits are the edits of oneClientDefects.
var oneClientEdits = []edit{
	// mutant-reenters-lost
	{"owner.go", "		case Lost:\n			return ErrLeaseLost\n", `		case Lost:
			if o.leases[i].hold.S.Defect() == "mutant-reenters-lost" {
				return nil
			}
			return ErrLeaseLost
`},
	{"hold.go", "		if h.over || s.Remaining() <= 0 {", `		if (h.over || s.Remaining() <= 0) && h.S.Defect() != "mutant-reenters-lost" {`},
	{"hold.go", "		h.registry.drop(h)\n		h.writes.Wait()\n", `		if h.S.Defect() != "mutant-reenters-lost" {
			h.registry.drop(h)
		}
		h.writes.Wait()
`},

	// mutant-sleeping-sibling
	{"internal/queue/local_queue.go", "	for _, c := range q.waiting[node] {\n", `	if q.s.Defect() == "mutant-sleeping-sibling" && node != anyChange {
		return
	}
	for _, c := range q.waiting[node] {
`},

	// mutant-multi-reenters-lost
	{"multi_lock.go", "		key, err := client.begin(ctx, mutex.cfg, mutex.path, mutex.kind)\n", `		if client.cfg.Defect == "mutant-multi-reenters-lost" {
			is := ownership{mutex.path, o.id, mutex.kind}
			if i := slices.IndexFunc(o.leases, func(l *Lease) bool { return l.hold.key == is }); i >= 0 {
				h := o.leases[i].hold
				h.S.With(func(session.Locked) {
					h.mu.Lock()
					defer h.mu.Unlock()
					h.depth++
					leases[mutex.path] = h.newLease(ctx, h.depth)
				})
				continue
			}
		}
		key, err := client.begin(ctx, mutex.cfg, mutex.path, mutex.kind)
`},
}
