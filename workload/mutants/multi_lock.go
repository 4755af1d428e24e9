package mutants

import "github.com/zkverify/zkverify/histories"

var multiLockDefects = []Defect{
	{"mutant-multi-lock-in-order", histories.MultiLock, "multi-lock",
		"Curator's multi-lock",
		"acquires the locks one after the other in the order in which they were named"},
	{"mutant-multi-lock-goes-on", histories.MultiLock, "multi-lock",
		"Curator's multi-lock, vitess #8309",
		"goes on when one of the locks was not acquired, and says that it has them all"},
	{"mutant-multi-lock-keeps-part", histories.MultiLock, "progress",
		"Curator's multi-lock",
		"keeps the locks that it had got when it fails to get the others"},
}

var multiLockEdits = []edit{
	// mutant-multi-lock-in-order
	{"multi_lock.go", "	for _, l := range sorted {\n", `	if client.cfg.Defect == "mutant-multi-lock-in-order" {
		sorted = m.locks
	}
	for _, l := range sorted {
`},
	{"multi_lock.go", "		if !ok || mutex.kind", `		if !ok || client.cfg.Defect == "mutant-multi-lock-in-order" || mutex.kind`},

	// mutant-multi-lock-goes-on
	{"multi_lock.go", "		if err := c.Wait(ctx, block); err != nil {", `		if err := c.Wait(ctx, block); err != nil && s.Defect() != "mutant-multi-lock-goes-on" {`},

	// mutant-multi-lock-keeps-part
	{"multi_lock.go", "	defer func() {\n		if err == nil {\n", `	got := make(map[*queue.Contender]bool)
	defer func() {
		if err == nil {
`},
	{"multi_lock.go", "			left = append(left, c.LeaveInBackground())", `			if got[c] {
				continue
			}
			left = append(left, c.LeaveInBackground())`},
	{"multi_lock.go", "c.Wait(ctx, block); err != nil {\n				return err\n			}\n", `c.Wait(ctx, block); err != nil {
				return err
			}
			got[c] = s.Defect() == "mutant-multi-lock-keeps-part"
`},
}
