package main

var readWriteEdits = []edit{
	// mutant-downgrade-behind, mutant-local-read
	{"mutex.go", "	if m.kind == readKind && writer != nil {\n", `	behind := writer != nil && m.client.cfg.defect == "mutant-downgrade-behind"
	for _, l := range ownerOf(ctx).leases {
		behind = behind || l.hold.key.kind == writeKind && l.Path() == m.path && l.hold.isLost && m.client.cfg.defect == "mutant-local-read"
	}
	if m.kind == readKind && behind {
		if err := c.enqueue(ctx); err != nil {
			return nil, err
		}
		m.client.announce(ctx, m.path, c, c.token)
		return startHold(ctx, m.client, claim(c), key, &m.cfg, asked)
	}
	if m.kind == readKind && writer != nil {
`},
	{"owner.go", "		case Lost:\n			return ErrLeaseLost\n", `		case Lost:
			if o.leases[i].hold.client.cfg.defect == "mutant-local-read" {
				return nil
			}
			return ErrLeaseLost
`},

	// and mutant-context-goes-on
	{"lease.go", "		l.cancel(ErrLeaseLost)\n", `		if d := h.client.cfg.defect; d != "mutant-local-read" && d != "mutant-context-goes-on" {
			l.cancel(ErrLeaseLost)
		}
`},

	// mutant-later-writer
	{"read_write.go", "	rw.write.kind, rw.write.rule = writeKind, exclusive\n", `	rw.write.kind, rw.write.rule = writeKind, exclusive
	if client.cfg.defect == "mutant-later-writer" {
		rw.read.rule = func(queue []Place, self int) int {
			for i := range queue {
				if queue[i].Kind == writeKind && queue[i].Sequence != queue[self].Sequence {
					return i
				}
			}
			return granted
		}
	}
`},
	{"line.go", "	if ahead >= i || ahead < granted {\n", `	if ahead > i && q.s.client.cfg.defect == "mutant-later-writer" {
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
