package mutants

import "github.com/zkverify/zkverify/histories"

var readWriteDefects = []Defect{
	{"mutant-downgrade-behind", histories.ReadWrite, "read/write",
		"CURATOR-621, -276",
		"a writer that downgrades reads at once, from a place behind queued writers"},
	{"mutant-local-read", histories.ReadWrite, "read/write",
		"Curator's InterProcessReadWriteLock",
		"a writer whose session was lost downgrades by what it remembers"},
	{"mutant-later-writer", histories.ReadWrite, "progress",
		"kazoo #649",
		"a reader waits for a writer that queued behind it"},
}

var readWriteEdits = []edit{
	// mutant-downgrade-behind, mutant-local-read
	{"mutex.go", "	if m.kind == queue.Read && writer != nil {\n", `	behind := writer != nil && m.client.cfg.Defect == "mutant-downgrade-behind"
	for _, l := range ownerOf(ctx).leases {
		behind = behind || l.hold.key.kind == queue.Write && l.Path() == m.path && l.hold.isLost && m.client.cfg.Defect == "mutant-local-read"
	}
	if m.kind == queue.Read && behind {
		if err := c.Enqueue(ctx); err != nil {
			return nil, err
		}
		m.client.announce(ctx, m.path, c, Token{Zxid: c.Zxid, Sub: c.Sub})
		return m.client.startHold(ctx, grant(c), key, m.cfg.revoked, asked)
	}
	if m.kind == queue.Read && writer != nil {
`},
	{"owner.go", "		case Lost:\n			return ErrLeaseLost\n", `		case Lost:
			if o.leases[i].hold.S.Defect() == "mutant-local-read" {
				return nil
			}
			return ErrLeaseLost
`},

	// and mutant-context-goes-on
	{"hold.go", "		l.cancel(ErrLeaseLost)\n", `		if d := h.S.Defect(); d != "mutant-local-read" && d != "mutant-context-goes-on" {
			l.cancel(ErrLeaseLost)
		}
`},

	// mutant-later-writer
	{"read_write.go", "	rw.write.kind, rw.write.rule = queue.Write, queue.Exclusive\n", `	rw.write.kind, rw.write.rule = queue.Write, queue.Exclusive
	if client.cfg.Defect == "mutant-later-writer" {
		rw.read.rule = func(places []queue.Place, self int) int {
			for i := range places {
				if places[i].Kind == queue.Write && places[i].Sequence != places[self].Sequence {
					return i
				}
			}
			return -1
		}
	}
`},
	{"internal/queue/judge.go", "	if ahead >= i || ahead < granted {\n", `	if ahead > i && q.s.Defect() == "mutant-later-writer" {
		later := places[ahead].Node
		if q.own[later] != nil {
			q.waiting[later] = append(q.waiting[later], c)
			return verdict{own: later}, nil
		}
		return verdict{other: later}, nil
	}
	if ahead >= i || ahead < granted {
`},
}
