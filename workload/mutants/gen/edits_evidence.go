package main

// evidenceEdits are defects in what a client takes for evidence that its session lives.
var evidenceEdits = []edit{
	{"internal/session/evidence.go", "	tick time.Duration // at least the servers'\n", "	tick   time.Duration // at least the servers'\n	defect string\n"},
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
}
