package main

// saysEdits are defects in what a lock says of itself.
var saysEdits = []edit{
	// mutant-held-stale
	{"owner.go", "		r.holds[key] = h\n", `		r.holds[key] = h
		if h.client.cfg.defect == "mutant-held-stale" {
			h.client.kept.Store(key.path, true)
		}
`},
	{"mutex.go", "func (m *Mutex) Held() bool { return ", `func (m *Mutex) Held() bool {
	if _, before := m.client.kept.Load(m.path); before && m.client.cfg.defect == "mutant-held-stale" {
		return true
	}
	return `},
	{"mutex.go", "m.client.holds.held(m.path, m.kind) }\n", "m.client.holds.held(m.path, m.kind)\n}\n"},

	// mutant-hopeful-deadline
	{"lease.go", "func (l *Lease) Deadline() time.Time { return l.hold.s.deadline() }", `func (l *Lease) Deadline() time.Time {
	if l.hold.client.cfg.defect == "mutant-hopeful-deadline" && l.open() {
		return time.Now().Add(l.hold.s.currentTimeout())
	}
	return l.hold.s.deadline()
}`},

	// mutant-depth-of-owner
	{"lease.go", "func (l *Lease) Depth() int { return l.depth }", `func (l *Lease) Depth() int {
	if l.hold.client.cfg.defect == "mutant-depth-of-owner" {
		l.hold.mu.Lock()
		defer l.hold.mu.Unlock()
		return l.hold.depth
	}
	return l.depth
}`},

	// mutant-valid-without-clock
	{"lease.go", "	return l.open() && time.Now().Before(l.hold.s.deadline())\n", `	if l.hold.client.cfg.defect == "mutant-valid-without-clock" {
		return l.open()
	}
	return l.open() && time.Now().Before(l.hold.s.deadline())
`},

	// mutant-old-participants
	{"participants.go", "	if err != nil {\n		return nil, opError(\"participants\", dir, err)\n	}\n", `	if err != nil {
		return nil, opError("participants", dir, err)
	}
	if c.cfg.defect == "mutant-old-participants" {
		before, _ := c.kept.Swap(dir, all)
		if list, ok := before.([]Participant); ok {
			return list, nil
		}
	}
`},

	// mutant-acquired-twice
	{"lease.go", "	h.depth++\n	return", `	h.depth++
	if f := h.client.cfg.observer.Acquired; f != nil && h.client.cfg.defect == "mutant-acquired-twice" {
		h.client.notify.post(func() { f(h.outermost, 0) })
	}
	return`},

	// mutant-lost-untold
	{"lease.go", "if f := h.client.cfg.observer.Lost; f != nil {", `if f := h.client.cfg.observer.Lost; f != nil && h.client.cfg.defect != "mutant-lost-untold" {`},

	// mutant-unannounced-place
	{"mutex.go", "	m.client.announce(ctx, m.path, c, c.token)\n", `	if m.client.cfg.defect == "mutant-unannounced-place" {
		if _, again := m.client.kept.Swap(key, true); !again {
			m.client.announce(ctx, m.path, c, c.token)
		}
		defer func() {
			if !errors.Is(err, errSessionEnded) {
				m.client.kept.Delete(key)
			}
		}()
	} else {
		m.client.announce(ctx, m.path, c, c.token)
	}
`},

	// mutant-token-after-lost-reply
	{"contender.go", "		if found || err != nil {\n			return err\n		}\n	}\n}\n", `		if found && s.client.cfg.defect == "mutant-token-after-lost-reply" {
			for _, c := range all {
				c.token.Zxid++
			}
		}
		if found || err != nil {
			return err
		}
	}
}
`},

	// mutant-downgraded-token
	{"read_write.go", "	// The czxid of its node is newer", `	if c.s.client.cfg.defect == "mutant-downgraded-token" && err == nil {
		c.token, err = identify(ctx, c.s, c.path())
		return err
	}
	// The czxid of its node is newer`},
}
