package main

// evidenceEdits are defects in what a client takes for evidence that its session lives.
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
		s.seen.clocked(sent, at, by == confirmed)
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
