package mutants

import "github.com/zkverify/zkverify/histories"

// saysDefects give wrong answers about the lock, or wrong tokens of its places and nodes.
var saysDefects = []Defect{
	{"mutant-held-stale", histories.Mutex, "answers are true",
		"a flag that no release clears",
		"a client that has held a lock once says that it holds it ever after"},
	{"mutant-hopeful-deadline", histories.Mutex, "answers are true",
		"a deadline that is counted from the time of the question",
		"tells a deadline that is a session timeout ahead, however long the servers have been silent"},
	{"mutant-depth-of-owner", histories.Mutex, "answers are true",
		"a counter that all leases of an owner share",
		"an outer lease says the depth of the innermost one"},
	{"mutant-valid-without-clock", histories.Mutex, "answers are true",
		"etcd #10811",
		"a lease is valid until its holder has been told of the loss, whatever the clock says"},
	{"mutant-context-goes-on", histories.Mutex, "answers are true",
		"a loss that ends a channel and forgets the context",
		"the context of a lease goes on when the lease is lost"},
	{"mutant-old-participants", histories.Mutex, "answers are true",
		"a cache in front of the children",
		"lists the queue as it was when it was last asked for"},
	{"mutant-acquired-twice", histories.Mutex, "answers are true",
		"an event of the lease instead of the hold",
		"tells observers of a re-entry as of a grant"},
	{"mutant-lost-untold", histories.Mutex, "answers are true",
		"an event that only releases have",
		"tells the holder of a loss, and its observers of nothing"},
	{"mutant-unannounced-place", histories.Mutex, "answers are true",
		"an event of the acquire instead of the node",
		"does not tell of its new place in the queue when the session of the old one has ended"},
	{"mutant-token-after-lost-reply", histories.Mutex, "answers are true",
		"a token from the wrong field of the node",
		"finds its node after a lost reply, and takes the transaction after its creation for its token"},
	{"mutant-downgraded-token", histories.ReadWrite, "fencing",
		"CURATOR-621",
		"a downgraded reader has a token of its own, newer than those of writers that wait"},
}

// saysEdits are the edits of saysDefects.
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
	{"hold.go", "	h.registry.lost(h.outermost, lossReasons[h.why], time.Since(h.since))\n", `	if h.S.Defect() != "mutant-lost-untold" {
		h.registry.lost(h.outermost, lossReasons[h.why], time.Since(h.since))
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
