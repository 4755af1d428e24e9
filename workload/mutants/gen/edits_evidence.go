package main

// evidenceEdits are defects in what a client takes for evidence that its session lives.
var evidenceEdits = []edit{
	{"internal/session/evidence.go", "	tick time.Duration\n", "	tick   time.Duration\n	defect string\n"},
	{"internal/session/connector.go", "	s.seen.established(sent)\n", "	s.seen.defect = s.Defect()\n	s.seen.established(sent)\n"},

	// mutant-write-proves-itself
	{"internal/session/evidence.go", "	if !e.reconnect.IsZero() {\n", `	if e.defect == "mutant-write-proves-itself" {
		e.count(sent)
	}
	if !e.reconnect.IsZero() {
`},

	// mutant-young-touch
	{"internal/session/evidence.go", "	for n < len(e.touches) && !sent.Before(e.touches[n].answered.Add(e.tick)) {\n", `	for n < len(e.touches) && (e.defect == "mutant-young-touch" || !sent.Before(e.touches[n].answered.Add(e.tick))) {
`},
}
