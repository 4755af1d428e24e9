package main

var multiLockEdits = []edit{
	// mutant-multi-lock-in-order
	{"multi_lock.go", "	for _, l := range sorted {\n", `	if client.cfg.defect == "mutant-multi-lock-in-order" {
		sorted = m.locks
	}
	for _, l := range sorted {
`},
	{"multi_lock.go", "		if !ok || mutex.kind", `		if !ok || client.cfg.defect == "mutant-multi-lock-in-order" || mutex.kind`},

	// mutant-multi-lock-goes-on
	{"multi_lock.go", "		if err := c.wait(ctx, block); err != nil {", `		if err := c.wait(ctx, block); err != nil && s.client.cfg.defect != "mutant-multi-lock-goes-on" {`},

	// mutant-multi-lock-keeps-part
	{"multi_lock.go", "	defer func() {\n		if err == nil {\n", `	got := make(map[*contender]bool)
	defer func() {
		if err == nil {
`},
	{"multi_lock.go", "			left = append(left, c.leaveInBackground())", `			if got[c] {
				continue
			}
			left = append(left, c.leaveInBackground())`},
	{"multi_lock.go", "c.wait(ctx, block); err != nil {\n			return err\n		}\n", `c.wait(ctx, block); err != nil {
			return err
		}
		got[c] = s.client.cfg.defect == "mutant-multi-lock-keeps-part"
`},
}
