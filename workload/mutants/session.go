package mutants

import "github.com/zkverify/zkverify/histories"

// sessionDefects mishandle the end of their session.
var sessionDefects = []Defect{
	{"mutant-own-node-missing", histories.Mutex, "mutual exclusion",
		"go-zookeeper's zk.Lock",
		"its session ends while it waits, it does not find its node in the queue, and takes that for its turn"},
	{"mutant-adopted-node", histories.Mutex, "mutual exclusion",
		"CURATOR-498",
		"repeats a create in the next session, and adopts the node of the last one, which vanishes with it"},
	{"mutant-unguarded-write", histories.Mutex, "no lost update, guarded",
		"the usual way to write beside a lock: a check, then a write of the connection",
		"writes to ZooKeeper in its present session, without a look at its lock node"},
	{"mutant-never-told", histories.Mutex, "loss is told",
		"CURATOR-604, -206",
		"does not tell a holder that its session has ended"},
	{"mutant-no-deadline", histories.Mutex, "mutual exclusion",
		"etcd #10811, Redisson #2665",
		"keeps no deadline of its own: a holder hears of the end of its session when it reaches a server again"},
	{"mutant-late-loss", histories.Mutex, "loss is told",
		"consul #18271",
		"believes in a silent session for three timeouts instead of one"},
	{"mutant-silent-new-session", histories.Mutex, "mutual exclusion",
		"ClickHouse Keeper #116690",
		"goes on in a new session as if it were the old one"},
	{"mutant-waits-on", histories.Mutex, "progress",
		"etcd #19597, #17470",
		"a waiter whose session ends waits on in it forever"},
	{"mutant-stale-ownership", histories.Mutex, "mutual exclusion",
		"Netflix/curator 1.1.2",
		"a release that is not answered leaves the lock with its owner, whose next acquire succeeds without a node"},
	{"mutant-hasty-reconnect", histories.Mutex, "reconnects politely",
		"go-zookeeper #36, #117",
		"tries to connect again and again without a wait"},
}

// sessionEdits are the edits of sessionDefects.
var sessionEdits = []edit{
	// mutant-own-node-missing
	{"mutex.go", "	if err := c.Wait(ctx, block); err != nil {\n", `	if err := c.Wait(ctx, block); err != nil {
		if block && errors.Is(err, session.ErrEnded) && m.client.cfg.Defect == "mutant-own-node-missing" {
			next, err := m.client.sessions.Get(ctx)
			if err != nil {
				return nil, err
			}
			on := grant(c)
			on.S, on.Nodes, on.Release = next, []string{m.path}, func(bool) error { return nil }
			return m.client.startHold(ctx, on, key, m.cfg.revoked, asked)
		}
`},

	// mutant-adopted-node
	{"internal/queue/enqueue.go", "		found, err := findContenders(ctx, s, all)\n", `		if s.Defect() == "mutant-adopted-node" {
			s.Stale.Store(all[0].q.dir, all[0].guid)
			s.End(session.Expired)
			return session.ErrEnded
		}
		found, err := findContenders(ctx, s, all)
`},
	{"internal/queue/enqueue.go", "	first := true\n	return c.create(", `	if guid, stale := c.S.Stale.Load(c.q.dir); stale && c.S.Defect() == "mutant-adopted-node" {
		c.S.Stale.Delete(c.q.dir)
		c.guid = guid.(string)
		if paths, _ := session.FindByGUID(ctx, c.S, c.q.dir, c.guid); len(paths) > 0 {
			if ok, stat, err := c.S.Conn.Exists(paths[0]); ok && err == nil {
				c.enqueued(paths[0], stat.Czxid)
				return nil
			}
		}
	}
	first := true
	return c.create(`},

	// mutant-unguarded-write
	{"guarded.go", "	var checks []any\n", `	if leases[0].hold.S.Defect() == "mutant-unguarded-write" {
		next, err := leases[0].hold.registry.sessions.Get(ctx)
		if err != nil {
			return nil, err
		}
		responses, err := next.Conn.Multi(ops...)
		if err != nil && !session.Answered(err) {
			err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
		}
		return responses, err
	}
	var checks []any
`},

	// mutant-never-told
	{"hold.go", "	if h.over {\n		return\n	}\n	h.over, h.isLost", `	if h.over || h.S.Defect() == "mutant-never-told" {
		return
	}
	h.over, h.isLost`},
	{"lease.go", "	return l.open() && l.hold.S.Remaining()", `	if d := l.hold.S.Defect(); d == "mutant-never-told" || d == "mutant-no-deadline" {
		return l.open()
	}
	return l.open() && l.hold.S.Remaining()`},

	// mutant-no-deadline
	{"hold.go", "		h.Lose(s, session.DeadlinePassed)\n", `		if h.S.Defect() == "mutant-no-deadline" {
			return
		}
		h.Lose(s, session.DeadlinePassed)
`},

	// mutant-late-loss
	{"internal/session/locked.go", "{ return l.s.seen.deadline(l.s.timeout) }", `{
	if l.s.Defect() == "mutant-late-loss" {
		return l.s.seen.deadline(3 * l.s.timeout)
	}
	return l.s.seen.deadline(l.s.timeout)
}`},

	// mutant-silent-new-session
	{"internal/session/connector.go", "	if err := h.implausible(s.ID, s.timeout); err != nil {", `	if s.Defect() == "mutant-silent-new-session" && s.ID != 0 {
		if h.expired() {
			return nil
		}
		s.ID = h.session
	}
	if err := h.implausible(s.ID, s.timeout); err != nil {`},
	{"internal/session/connector.go", "		case zk.StateExpired:\n", `		case zk.StateExpired:
			if c.s.Defect() == "mutant-silent-new-session" {
				return
			}
`},
	{"internal/session/heartbeat.go", "		l.loseNode(paths[i])\n		b.s.", `		if d := b.s.Defect(); d == "mutant-silent-new-session" || d == "mutant-restarted-sequence" || d == "mutant-deaf-to-deletion" {
			return
		}
		l.loseNode(paths[i])
		b.s.`},

	// mutant-waits-on
	{"internal/session/keeper.go", "	k.latest, k.refused = s, nil\n", `	if k.latest != nil && k.cfg.Defect == "mutant-waits-on" {
		s = k.latest
	}
	k.latest, k.refused = s, nil
`},

	// mutant-stale-ownership
	{"lease.go", "	h.writes.Wait() // they come before the requests of the next one, or are over\n", `	h.writes.Wait() // they come before the requests of the next one, or are over
	if h.S.Defect() == "mutant-stale-ownership" {
		if l.err = h.Release(false); l.err != nil && !errors.Is(l.err, zk.ErrNoNode) {
			h.S.Stale.Store(l.Path(), h.Grant)
		}
		return
	}
`},
	{"mutex.go", "	var h *hold\n", `	var h *hold
	if on, stale := m.client.sessions.Stale.Load(m.path); stale && m.client.cfg.Defect == "mutant-stale-ownership" {
		m.client.sessions.Stale.Delete(m.path)
		defer func() { m.client.holds.settle(key, h) }()
		if h, err = m.client.startHold(ctx, on.(queue.Grant), key, m.cfg.revoked, asked); err != nil {
			return nil, err
		}
		return h.outermost, nil
	}
`},
	{"internal/session/cleanup.go", "	done := DeleteInBackground(s, path, gone)\n	if Answered(err) &&", `	if d := s.Defect(); d == "mutant-stale-ownership" || d == "mutant-forgotten-node" {
		return err
	}
	done := DeleteInBackground(s, path, gone)
	if Answered(err) &&`},

	// mutant-hasty-reconnect
	{"internal/session/connector.go", "	if err := s.pace.await(s.dials, timeout); err != nil {", `	wait := s.pace.await
	if s.Defect() == "mutant-hasty-reconnect" {
		wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	if err := wait(s.dials, timeout); err != nil {`},
}
