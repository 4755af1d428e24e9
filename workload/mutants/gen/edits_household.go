package main

// householdEdits are defects among the contenders of one client, and of one owner.
var householdEdits = []edit{
	// mutant-reenters-lost
	{"owner.go", "		case Lost:\n			return ErrLeaseLost\n", `		case Lost:
			if o.leases[i].hold.client.cfg.defect == "mutant-reenters-lost" {
				return nil
			}
			return ErrLeaseLost
`},
	{"lease.go", "	if h.over || !time.Now().Before(s.deadlineLocked()) {", `	if (h.over || !time.Now().Before(s.deadlineLocked())) && h.client.cfg.defect != "mutant-reenters-lost" {`},
	{"lease.go", "		h.client.holds.drop(h)\n		h.writes.Wait()\n", `		if h.client.cfg.defect != "mutant-reenters-lost" {
			h.client.holds.drop(h)
		}
		h.writes.Wait()
`},

	// mutant-sleeping-sibling
	{"line.go", "	for _, c := range q.waiting[node] {\n", `	if q.s.client.cfg.defect == "mutant-sleeping-sibling" && node != anybody {
		return
	}
	for _, c := range q.waiting[node] {
`},

	// mutant-multi-reenters-lost
	{"multi_lock.go", "		key, err := client.begin(ctx, mutex.path, mutex.kind)\n", `		if client.cfg.defect == "mutant-multi-reenters-lost" {
			is := ownership{mutex.path, o.id, mutex.kind}
			if i := slices.IndexFunc(o.leases, func(l *Lease) bool { return l.hold.key == is }); i >= 0 {
				h := o.leases[i].hold
				h.s.mu.Lock()
				h.mu.Lock()
				h.depth++
				leases[mutex.path] = h.newLease(ctx, h.depth)
				h.mu.Unlock()
				h.s.mu.Unlock()
				continue
			}
		}
		key, err := client.begin(ctx, mutex.path, mutex.kind)
`},
}
