package mutants

import "github.com/zkverify/zkverify/histories"

// saysDefects give wrong answers about the lock, or wrong tokens of its places and nodes.
var saysDefects = []Defect{
	{
		Name:      "mutant-held-stale",
		Recipe:    histories.Mutex,
		Bug:       "a flag that no release clears",
		What:      "a client that has held a lock once says that it holds it ever after",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-hopeful-deadline",
		Recipe:    histories.Mutex,
		Bug:       "a deadline that is counted from the time of the question",
		What:      "tells a deadline that is a session timeout ahead, however long the servers have been silent",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-depth-of-owner",
		Recipe:    histories.Mutex,
		Bug:       "a counter that all leases of an owner share",
		What:      "an outer lease says the depth of the innermost one",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-valid-without-clock",
		Recipe:    histories.Mutex,
		Bug:       "etcd #10811",
		What:      "a lease is valid until its holder has been told of the loss, whatever the clock says",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-context-goes-on",
		Recipe:    histories.Mutex,
		Bug:       "a loss that ends a channel and forgets the context",
		What:      "the context of a lease goes on when the lease is lost",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-old-participants",
		Recipe:    histories.Mutex,
		Bug:       "a cache in front of the children",
		What:      "lists the queue as it was when it was last asked for",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-acquired-twice",
		Recipe:    histories.Mutex,
		Bug:       "an event of the lease instead of the hold",
		What:      "tells observers of a re-entry as of a grant",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-lost-untold",
		Recipe:    histories.Mutex,
		Bug:       "an event that only releases have",
		What:      "tells the holder of a loss, and its observers of nothing",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-unannounced-place",
		Recipe:    histories.Mutex,
		Bug:       "an event of the acquire instead of the node",
		What:      "does not tell of its new place in the queue when the session of the old one has ended",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-token-after-lost-reply",
		Recipe:    histories.Mutex,
		Bug:       "a token from the wrong field of the node",
		What:      "finds its node after a lost reply, and takes the transaction after its creation for its token",
		Guarantee: "answers are true",
	},
	{
		Name:      "mutant-downgraded-token",
		Recipe:    histories.ReadWrite,
		Bug:       "CURATOR-621",
		What:      "a downgraded reader has a token of its own, newer than those of writers that wait",
		Guarantee: "fencing",
	},
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
