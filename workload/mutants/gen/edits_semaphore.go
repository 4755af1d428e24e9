package main

var semaphoreEdits = []edit{
	// mutant-semaphore-no-queue
	{"semaphore.go", "		err := c.wait(ctx, block)\n		t := c.q.takeOf(c)", `		var err error
		if s.client.cfg.defect != "mutant-semaphore-no-queue" {
			err = c.wait(ctx, block)
		}
		t := c.q.takeOf(c)`},

	// mutant-semaphore-counts-nodes
	{"take.go", "		for range c.asks.n {\n			ops", `		nodes := c.asks.n
		if t.s.client.cfg.defect == "mutant-semaphore-counts-nodes" {
			nodes = 1
		}
		for range nodes {
			ops`},
	{"take.go", "case len(made.paths[c]) == a.n:", `case len(made.paths[c]) == a.n, t.s.client.cfg.defect == "mutant-semaphore-counts-nodes" && len(made.paths[c]) == 1:`},

	// mutant-semaphore-cancelled
	{"asks.go", "	c.s.spawn(func() { a.on.release(false) })", `	if c.s.client.cfg.defect == "mutant-semaphore-cancelled" {
		return
	}
	c.s.spawn(func() { a.on.release(false) })`},

	// mutant-semaphore-unanswered
	{"take.go", "			if given, err = t.find(ctx, present); err == nil && given != nil {", `			if t.s.client.cfg.defect == "mutant-semaphore-unanswered" {
				continue
			}
			if given, err = t.find(ctx, present); err == nil && given != nil {`},

	// mutant-semaphore-one-by-one
	{"semaphore.go", "	c := newContender(in, s.path+locksDir", `	if n > 1 && s.client.cfg.defect == "mutant-semaphore-one-by-one" {
		return s.contendOneByOne(ctx, in, n, block)
	}
	c := newContender(in, s.path+locksDir`},
	{"semaphore.go", "// contend takes n permits in one session.\n", `// contendOneByOne takes n permits one after the other, and keeps those that it
// has while it waits for the next.
func (s *Semaphore) contendOneByOne(ctx context.Context, in *session, n int, block bool) (all claim, err error) {
	var ones []claim
	release := func(lost bool) (err error) {
		for _, one := range ones {
			err = errors.Join(err, one.release(lost))
		}
		return err
	}
	for range n {
		one, err := s.contend(ctx, in, 1, block)
		if err != nil {
			in.spawn(func() { release(true) })
			return claim{}, err
		}
		ones = append(ones, one)
		all.nodes, all.token = append(all.nodes, one.nodes...), one.token
	}
	all.s, all.permits, all.data, all.release = in, n, s.cfg.data, release
	return all, nil
}

// contend takes n permits in one session.
`},

	// mutant-semaphore-raise-unnoticed
	{"semaphore.go", "		if s.count != nil {\n			event, err := c.s.watch.on", `		if s.count != nil && c.s.client.cfg.defect != "mutant-semaphore-raise-unnoticed" {
			event, err := c.s.watch.on`},
	{"contender.go", `		first, second = watches[0], watches[1]
	}
	again := time.NewTimer(c.s.currentTimeout())
`, `		first, second = watches[0], watches[1]
	}
	again := time.NewTimer(c.s.currentTimeout())
	if c.s.client.cfg.defect == "mutant-semaphore-raise-unnoticed" {
		again.Stop() // the slow look would notice
	}
`},

	// mutant-semaphore-no-new-count
	{"take.go", "		case errors.Is(err, errNoPermits):\n", `		case errors.Is(err, errAskAgain) && t.s.client.cfg.defect == "mutant-semaphore-no-new-count":
			_, t.version, err = t.sem.count.read(ctx, t.s)
		case errors.Is(err, errNoPermits):
`},

	// mutant-semaphore-size-grows
	{"semaphore.go", "		if room.size, room.version, err = s.count.read(ctx, c.s); err != nil {\n			return room, err\n		}\n", `		if room.size, room.version, err = s.count.read(ctx, c.s); err != nil {
			return room, err
		}
		if s.client.cfg.defect == "mutant-semaphore-size-grows" {
			if most, ok := s.client.kept.Load(s.count.path); ok {
				room.size = max(room.size, most.(int))
			}
			s.client.kept.Store(s.count.path, room.size)
		}
`},

	// mutant-semaphore-releases-one
	{"take.go", "			err := c.s.removeAllHere(paths, q.permitGone)", `			paths := paths
			if c.s.client.cfg.defect == "mutant-semaphore-releases-one" {
				paths = paths[:1]
			}
			err := c.s.removeAllHere(paths, q.permitGone)`},
}
