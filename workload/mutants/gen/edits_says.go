package main

// saysEdits are defects in what a lock says of itself.
var saysEdits = []edit{
	// mutant-held-stale
	{"registry.go", "		r.holds[key] = h\n", `		r.holds[key] = h
		if h.S.Defect() == "mutant-held-stale" {
			h.S.Kept.Store(key.path, true)
		}
`},
	{"mutex.go", "func (m *Mutex) Held() bool { return ", `func (m *Mutex) Held() bool {
	if _, before := m.client.sessions.Kept.Load(m.path); before && m.client.cfg.Defect == "mutant-held-stale" {
		return true
	}
	return `},
	{"mutex.go", "m.client.holds.held(m.path, m.kind) }\n", "m.client.holds.held(m.path, m.kind)\n}\n"},

	// mutant-hopeful-deadline
	{"lease.go", "func (l *Lease) Deadline() time.Time { return l.hold.S.Deadline() }", `func (l *Lease) Deadline() time.Time {
	if l.hold.S.Defect() == "mutant-hopeful-deadline" && l.open() {
		return time.Now().Add(l.hold.S.Timeout())
	}
	return l.hold.S.Deadline()
}`},

	// mutant-depth-of-owner
	{"lease.go", "func (l *Lease) Depth() int { return l.depth }", `func (l *Lease) Depth() int {
	if l.hold.S.Defect() == "mutant-depth-of-owner" {
		l.hold.mu.Lock()
		defer l.hold.mu.Unlock()
		return l.hold.depth
	}
	return l.depth
}`},

	// mutant-valid-without-clock
	{"lease.go", "	return l.open() && l.hold.S.Remaining() > 0\n", `	if l.hold.S.Defect() == "mutant-valid-without-clock" {
		return l.open()
	}
	return l.open() && l.hold.S.Remaining() > 0
`},

	// mutant-old-participants
	{"participants.go", "	if err != nil {\n		return nil, c.failed(ctx, \"participants\", dir, err)\n	}\n", `	if err != nil {
		return nil, c.failed(ctx, "participants", dir, err)
	}
	if c.cfg.Defect == "mutant-old-participants" {
		before, _ := c.sessions.Kept.Swap(dir, all)
		if list, ok := before.([]Participant); ok {
			return list, nil
		}
	}
`},

	// mutant-acquired-twice
	{"hold.go", "		h.depth++\n", `		h.depth++
		if h.S.Defect() == "mutant-acquired-twice" {
			h.registry.acquired(h.outermost, 0)
		}
`},

	// mutant-lost-untold
	{"hold.go", "	h.registry.lost(h.outermost, time.Since(h.since))\n", `	if h.S.Defect() != "mutant-lost-untold" {
		h.registry.lost(h.outermost, time.Since(h.since))
	}
`},

	// mutant-unannounced-place
	{"mutex.go", "	m.client.announce(ctx, m.path, c, Token{Zxid: c.Zxid, Sub: c.Sub})\n", `	if m.client.cfg.Defect == "mutant-unannounced-place" {
		if _, again := m.client.sessions.Kept.Swap(key, true); !again {
			m.client.announce(ctx, m.path, c, Token{Zxid: c.Zxid, Sub: c.Sub})
		}
		defer func() {
			if !errors.Is(err, session.ErrEnded) {
				m.client.sessions.Kept.Delete(key)
			}
		}()
	} else {
		m.client.announce(ctx, m.path, c, Token{Zxid: c.Zxid, Sub: c.Sub})
	}
`},

	// mutant-token-after-lost-reply
	{"internal/queue/enqueue.go", "		if made = found; found || err != nil {\n", `		if found && s.Defect() == "mutant-token-after-lost-reply" {
			for _, c := range all {
				c.Zxid++
			}
		}
		if made = found; found || err != nil {
`},

	// mutant-downgraded-token
	{"internal/queue/downgrade.go", "	// The czxid of its node is newer", `	if c.S.Defect() == "mutant-downgraded-token" && err == nil {
		c.Zxid, err = session.Identify(ctx, c.S, c.path())
		return err
	}
	// The czxid of its node is newer`},
}
