package main

// handoffEdits are of the hand-off within a client.
var handoffEdits = []edit{
	// mutant-handoff-for-ever
	{"cohort.go", "	return b.passed < limit && co.next(", `	if b.place.S.Defect() == "mutant-handoff-for-ever" {
		limit = b.passed + 1
	}
	return b.passed < limit && co.next(`},

	// mutant-handoff-after-loss
	{"handoff.go", "		if !lost && co.pass(", `		if (!lost || m.client.cfg.Defect == "mutant-handoff-after-loss") && co.pass(`},

	// mutant-handoff-same-token
	{"handoff.go", "	on.Sub = int32(b.passed)\n", `	on.Sub = int32(b.passed)
	if m.client.cfg.Defect == "mutant-handoff-same-token" {
		on.Sub = 0
	}
`},
}
