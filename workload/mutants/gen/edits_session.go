package main

// sessionEdits are defects in what a lock makes of the end of its session.
var sessionEdits = []edit{
	// mutant-own-node-missing
	{"mutex.go", "	if err := c.wait(ctx, block); err != nil {\n", `	if err := c.wait(ctx, block); err != nil {
		if block && errors.Is(err, errSessionEnded) && m.client.cfg.defect == "mutant-own-node-missing" {
			next, err := m.client.session(ctx)
			if err != nil {
				return nil, err
			}
			on := claim(c)
			on.s, on.nodes, on.release = next, []string{m.path}, func(bool) error { return nil }
			return startHold(ctx, m.client, on, key, &m.cfg, asked)
		}
`},

	// mutant-adopted-node
	{"contender.go", "		found, err := findContenders(ctx, s, all)\n", `		if s.client.cfg.defect == "mutant-adopted-node" {
			s.client.stale.Store(all[0].q.dir, all[0].guid)
			s.end(LossSessionExpired)
			return errSessionEnded
		}
		found, err := findContenders(ctx, s, all)
`},
	{"contender.go", "	first := true\n	return c.create(", `	if guid, stale := c.s.client.stale.Load(c.q.dir); stale && c.s.client.cfg.defect == "mutant-adopted-node" {
		c.s.client.stale.Delete(c.q.dir)
		c.guid = guid.(string)
		if paths, _ := findByGUID(ctx, c.s, c.q.dir, c.guid); len(paths) > 0 {
			if ok, stat, err := c.s.conn.Exists(paths[0]); ok && err == nil {
				c.enqueued(paths[0], Token{Zxid: stat.Czxid})
				return nil
			}
		}
	}
	first := true
	return c.create(`},
	{"client.go", "	cohorts cohorts\n", "	cohorts cohorts\n	stale   sync.Map // what a defect remembers of a path\n"},

	// mutant-unguarded-write
	{"guarded.go", "	var checks []any\n", `	if leases[0].hold.client.cfg.defect == "mutant-unguarded-write" {
		next, err := leases[0].hold.client.session(ctx)
		if err != nil {
			return nil, err
		}
		responses, err := next.conn.Multi(ops...)
		if err != nil && !answered(err) {
			err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
		}
		return responses, err
	}
	var checks []any
`},

	// mutant-never-told
	{"lease.go", "	if h.over {\n		return\n	}\n	h.over, h.isLost", `	if h.over || h.client.cfg.defect == "mutant-never-told" {
		return
	}
	h.over, h.isLost`},
	{"lease.go", "	return l.open() && time.Now()", `	if d := l.hold.client.cfg.defect; d == "mutant-never-told" || d == "mutant-no-deadline" {
		return l.open()
	}
	return l.open() && time.Now()`},

	// mutant-no-deadline
	{"lease.go", "	h.loseLocked(LossDeadlinePassed)\n}\n", `	if h.client.cfg.defect == "mutant-no-deadline" {
		return
	}
	h.loseLocked(LossDeadlinePassed)
}
`},

	// mutant-late-loss
	{"session.go", "{ return s.seen.deadline(s.timeout) }", `{
	if s.client.cfg.defect == "mutant-late-loss" {
		return s.seen.deadline(3 * s.timeout)
	}
	return s.seen.deadline(s.timeout)
}`},

	// mutant-silent-new-session
	{"session.go", "	if err := h.implausible(s.id, s.timeout); err != nil {", `	if s.client.cfg.defect == "mutant-silent-new-session" && s.id != 0 {
		if h.expired() {
			return nil
		}
		s.id = h.session
	}
	if err := h.implausible(s.id, s.timeout); err != nil {`},
	{"session.go", "	case zk.StateExpired:\n", `	case zk.StateExpired:
		if s.client.cfg.defect == "mutant-silent-new-session" {
			return
		}
`},
	{"heartbeat.go", "	s.loseNodeLocked(paths[i])\n	s.nudge()", `	if d := s.client.cfg.defect; d == "mutant-silent-new-session" || d == "mutant-restarted-sequence" || d == "mutant-deaf-to-deletion" {
		return
	}
	s.loseNodeLocked(paths[i])
	s.nudge()`},

	// mutant-waits-on
	{"client.go", "	c.current, c.refused = s, err\n", `	if c.current != nil && c.cfg.defect == "mutant-waits-on" {
		s = c.current
	}
	c.current, c.refused = s, err
`},

	// mutant-stale-ownership
	{"lease.go", "	h.writes.Wait() // they come before whatever the next one sends, or are over\n", `	h.writes.Wait() // they come before whatever the next one sends, or are over
	if h.client.cfg.defect == "mutant-stale-ownership" {
		if l.err = h.release(false); l.err != nil && !errors.Is(l.err, zk.ErrNoNode) {
			h.client.stale.Store(l.Path(), h.claim)
		}
		return
	}
`},
	{"mutex.go", "	var h *hold\n", `	var h *hold
	if on, stale := m.client.stale.Load(m.path); stale && m.client.cfg.defect == "mutant-stale-ownership" {
		m.client.stale.Delete(m.path)
		defer func() { m.client.holds.settle(key, h) }()
		if h, err = startHold(ctx, m.client, on.(claim), key, &m.cfg, asked); err != nil {
			return nil, err
		}
		return h.outermost, nil
	}
`},
	{"cleanup.go", "	<-s.deleteInBackground(path, gone)\n	return nil\n}\n\n// removeAllHere", `	if d := s.client.cfg.defect; d == "mutant-stale-ownership" || d == "mutant-forgotten-node" {
		return err
	}
	<-s.deleteInBackground(path, gone)
	return nil
}

// removeAllHere`},

	// mutant-hasty-reconnect
	{"session.go", "	if err := s.client.pace.await(s.dials, timeout); err != nil {", `	wait := s.client.pace.await
	if s.client.cfg.defect == "mutant-hasty-reconnect" {
		wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	if err := wait(s.dials, timeout); err != nil {`},
}
