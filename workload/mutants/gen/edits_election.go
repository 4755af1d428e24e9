package main

// electionEdits are defects of elections. A term stands on the engine of the locks, so what
// can be wrong there is wrong of the candidates' nodes alone.
var electionEdits = []edit{
	// mutant-latch-reinstated
	{"election.go", "	if err == nil && lease.Depth() > 1 {\n", `	if err == nil && lease.Depth() > 1 && e.queue.client.cfg.Defect != "mutant-latch-reinstated" {
`},

	// mutant-latch-suspended
	{"hold.go", "		if left := s.Remaining(); left > 0 {\n", `		if h.S.Defect() == "mutant-latch-suspended" && h.key.kind == queue.Latch {
			return
		}
		if left := s.Remaining(); left > 0 {
`},

	// mutant-latch-left-behind
	{"internal/queue/contender.go", "func (c *Contender) Leave(ctx context.Context) {\n", `func (c *Contender) Leave(ctx context.Context) {
	if c.S.Defect() == "mutant-latch-left-behind" && c.kind == Latch && ctx.Err() != nil {
		return
	}
`},

	// mutant-latch-session-epoch
	{"election.go", "	return &Term{lease}, nil\n", `	if e.queue.client.cfg.Defect == "mutant-latch-session-epoch" {
		s := lease.hold.S
		first, _ := s.Keep("epoch "+e.Path(), func() any { return lease.hold.Zxid }).(int64)
		lease.hold.Zxid = first
	}
	return &Term{lease}, nil
`},

	// mutant-observer-falls-back
	{"leader.go", "	o.told, o.latest = true, leader\n", `	if leader.Node == "" && o.election.queue.client.cfg.Defect == "mutant-observer-falls-back" {
		if o.told && last.Node == "" && o.known.Node != "" {
			leader, same = o.known, false // it is time to look again, and there must be a leader
		}
	} else {
		o.known = leader
	}
	o.told, o.latest = true, leader
`},
	{"leader.go", "	latest   Participant\n", "	latest   Participant\n	known    Participant // the latest that was one\n"},
}
