package mutants

import "github.com/zkverify/zkverify/histories"

var electionDefects = []Defect{
	{"mutant-latch-suspended", histories.Election, "mutual exclusion",
		"Netflix/curator #216",
		"a leader that cannot reach the servers goes on to lead until it hears that its session has ended"},
	{"mutant-latch-reinstated", histories.Election, "reentrancy",
		"a candidate that is started twice",
		"a leader that campaigns is elected at once, and leads twice"},
	{"mutant-latch-name-order", histories.Election, "mutual exclusion",
		"ZOOKEEPER-2931",
		"sorts the candidates by their whole names: one that comes later may be put before the leader"},
	{"mutant-latch-left-behind", histories.Election, "progress",
		"CURATOR-202",
		"a candidate that withdraws leaves its node behind, which is elected when its turn comes"},
	{"mutant-latch-session-epoch", histories.Election, "fencing",
		"a leader's epoch that is that of its session",
		"all terms of a session have the token of its first"},
	{"mutant-observer-falls-back", histories.Election, "observers",
		"an observer that takes no leader for an answer that is missing",
		"an observer that still sees no leader when it looks again tells of the last one it knew"},
}

// electionEdits are defects of elections. A term is built on the engine of the locks, so only
// the handling of the candidates' nodes can be wrong.
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
	{"election.go", "	return lease, nil\n", `	if e.queue.client.cfg.Defect == "mutant-latch-session-epoch" {
		s := lease.hold.S
		first, _ := s.Keep("epoch "+e.Path(), func() any { return lease.hold.Zxid }).(int64)
		lease.hold.Zxid = first
	}
	return lease, nil
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
