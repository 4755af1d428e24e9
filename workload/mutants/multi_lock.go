package mutants

import "github.com/zkverify/zkverify/histories"

var multiLockDefects = []Defect{
	{
		Name:      "mutant-multi-lock-in-order",
		Recipe:    histories.MultiLock,
		Bug:       "Curator's multi-lock",
		What:      "acquires the locks one after the other in the order in which they were named",
		Guarantee: "multi-lock",
	},
	{
		Name:      "mutant-multi-lock-goes-on",
		Recipe:    histories.MultiLock,
		Bug:       "Curator's multi-lock, vitess #8309",
		What:      "goes on when one of the locks was not acquired, and says that it has them all",
		Guarantee: "multi-lock",
	},
	{
		Name:      "mutant-multi-lock-keeps-part",
		Recipe:    histories.MultiLock,
		Bug:       "Curator's multi-lock",
		What:      "keeps the locks that it had got when it fails to get the others",
		Guarantee: "progress",
	},
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
