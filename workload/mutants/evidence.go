package mutants

import "github.com/zkverify/zkverify/histories"

// evidenceDefects misjudge a client's evidence that its session lives.
var evidenceDefects = []Defect{
	{"mutant-write-proves-itself", histories.Mutex, "loss is told",
		"a write that is taken for a touch of its session",
		"counts each confirmed write itself: a follower forwards it, and the leader does not touch the session"},
	{"mutant-young-touch", histories.Mutex, "loss is told",
		"a request that its server has not told the leader of",
		"counts a request that a write follows at once: the follower need not have told the leader of it"},
	{"mutant-clocked-follower", histories.Mutex, "mutual exclusion",
		"a follower that is thought to report by a clock of its own (the first releases of these locks)",
		"counts a request of any kind when a write that was sent a tick later is confirmed: a leader that stood still has not asked the follower in between"},
	{"mutant-three-answers", histories.Mutex, "loss is told",
		"a leader that answers before it pings (spec/lease.pml, a rule that was tried)",
		"counts the first of three answers that lie half a tick apart and end in a write: a leader that stood still may answer each of them before it pings"},
	{"mutant-short-gap", histories.Mutex, "loss is told",
		"a ping that was not due (spec/lease.pml, a rule that was tried)",
		"counts the first of five answers between which no half tick lies: the leader need not have asked the follower since"},
	{"mutant-unwritten-chain", histories.Mutex, "loss is told",
		"a deposed leader that answers (spec/lease.pml, a rule that was tried)",
		"counts a chain of syncs that no write has ended: another leader may have begun since, and a deposed one answers a sync too"},
	{"mutant-eager-reconnect", histories.Mutex, "loss is told",
		"a deposed leader that lets a session go on (spec/lease.pml, a rule that was tried)",
		"counts a reconnect at once, without a write: a deposed leader answers that too"},
}

// evidenceEdits are the edits of evidenceDefects.
var evidenceEdits = []edit{
	{"internal/session/evidence.go", "	tick time.Duration // at least the servers'\n", "	tick   time.Duration // at least the servers'\n	defect string\n	pairs  []chain\n"},
	{"internal/session/connector.go", "	s.seen.established(sent)\n", "	s.seen.defect = s.Defect()\n	s.seen.established(sent)\n"},

	// mutant-write-proves-itself
	{"internal/session/evidence.go", "		if !e.reconnect.IsZero() {\n", `		if e.defect == "mutant-write-proves-itself" {
			e.count(sent)
		}
		if !e.reconnect.IsZero() {
`},

	// mutant-young-touch
	{"internal/session/evidence.go", "		if whole := e.extend(links-1, sent); !whole.IsZero() {\n", `		for _, c := range e.chains[0] {
			if e.defect == "mutant-young-touch" && !sent.Before(c.last) {
				e.count(c.first)
			}
		}
		if whole := e.extend(links-1, sent); !whole.IsZero() {
`},
	{"internal/session/heartbeat.go", "	for answers := range links - 1 {\n", `	for answers := range links - 1 {
		if b.s.Defect() == "mutant-clocked-follower" || b.s.Defect() == "mutant-three-answers" && answers == 2 {
			break
		}
`},

	// mutant-three-answers
	{"internal/session/evidence.go", "	for answers := links - 2; answers > 0; answers-- {\n", `	for _, c := range e.chains[1] {
		if e.defect == "mutant-three-answers" && confirmed && !sent.Before(c.last) {
			e.count(c.first)
		}
	}
	for answers := links - 2; answers > 0; answers-- {
`},

	// mutant-short-gap
	{"internal/session/evidence.go", "	switch answers {\n	case 1:\n", `	if e.defect == "mutant-short-gap" && answers == 1 {
		answers = 2
	}
	switch answers {
	case 1:
`},

	// mutant-unwritten-chain
	{"internal/session/evidence.go", "	if confirmed {\n", "	if confirmed || e.defect == \"mutant-unwritten-chain\" {\n"},
	{"internal/session/heartbeat.go", "			return\n		}\n	}\n	b.check()\n", `			return
		}
	}
	if b.s.Defect() == "mutant-unwritten-chain" {
		b.ask(b.sync)
	}
	b.check()
`},

	// mutant-eager-reconnect
	{"internal/session/evidence.go", "	e.reconnect = sent\n", `	e.reconnect = sent
	if e.defect == "mutant-eager-reconnect" {
		e.count(sent)
	}
`},

	// mutant-clocked-follower: the rule of the first releases
	{"internal/session/connector.go", "	if by != local {\n", `	if s.Defect() == "mutant-clocked-follower" {
		s.seen.clocked(sent, s.cfg.Clock.Now(), by == confirmed)
	}
	if by != local {
`},
	{"internal/session/evidence.go", "func (e *evidence) count(sent time.Time) {\n", `// clocked counts a request of any kind when a write that was sent a tick after its answer
// has been confirmed.
func (e *evidence) clocked(sent, at time.Time, confirmed bool) {
	if n := len(e.pairs); n == 0 || at.Sub(e.pairs[n-1].last) >= e.tick/8 {
		e.pairs = append(e.pairs, chain{sent, at})
	}
	for confirmed && len(e.pairs) > 0 && !sent.Before(e.pairs[0].last.Add(e.tick)) {
		e.count(e.pairs[0].first)
		e.pairs = e.pairs[1:]
	}
}

func (e *evidence) count(sent time.Time) {
`},
}
