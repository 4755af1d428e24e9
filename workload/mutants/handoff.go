package mutants

import "github.com/zkverify/zkverify/histories"

var handoffDefects = []Defect{
	{"mutant-handoff-for-ever", histories.Handoff, "fairness",
		"lock cohorting without its bound",
		"hands the lock on within its client as long as another contender there wants it"},
	{"mutant-handoff-after-loss", histories.Handoff, "fairness",
		"lock cohorting with locks that can be lost",
		"goes on handing the lock on within its client when it has been lost"},
	{"mutant-handoff-same-token", histories.Handoff, "fencing",
		"a token that is the node's alone",
		"hands the lock on with the token of the one before"},
}

// handoffEdits change the hand-off within a client.
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
