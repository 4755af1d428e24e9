package main

// waitingEdits are of missed wake-ups. The recipes look again once in a while
// whatever they have missed, which most of the locks that had these bugs did not do: so
// most of the mutants do not either.
var waitingEdits = []edit{
	{"contender.go", "// awaitAnybody waits", `// sleep waits for what will not come.
func (c *contender) sleep(ctx context.Context) error {
	select {
	case <-c.s.ended:
		return errSessionEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitAnybody waits`},

	// mutant-waits-for-nobody
	{"contender.go", "		c.q.gone(node) // between list and watch (helix #44)", `		if c.s.client.cfg.defect == "mutant-waits-for-nobody" {
			return c.sleep(ctx)
		}
		c.q.gone(node) // between list and watch (helix #44)`},

	// mutant-watch-lost
	{"contender.go", "	case <-linkChanged:\n		c.q.outdated()", `	case <-linkChanged:
		if c.s.client.cfg.defect == "mutant-watch-lost" {
			return c.sleep(ctx)
		}
		c.q.outdated()`},

	// mutant-event-dropped
	{"contender.go", "		c.s.watch.fired(watch)\n		if e.Type == zk.EventNodeDeleted {", `		c.s.watch.fired(watch)
		if c.s.client.cfg.defect == "mutant-event-dropped" && rand.IntN(20) == 0 {
			return c.overlook(ctx, again.C)
		}
		if e.Type == zk.EventNodeDeleted {`},
	{"contender.go", "	\"errors\"\n", "	\"errors\"\n	\"math/rand/v2\"\n"},
	{"contender.go", "// leave deletes the contender's node.", `// overlook waits until it is time to look again, whatever happens.
func (c *contender) overlook(ctx context.Context, again <-chan time.Time) error {
	select {
	case <-again:
		return c.look(ctx)
	case <-c.s.ended:
		return errSessionEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave deletes the contender's node.`},

	// mutant-watch-set-once
	{"contender.go", "	joined     int64 ", "	watched    bool          // it has set a watch before\n	joined     int64 "},
	{"contender.go", "	again := time.NewTimer(c.s.currentTimeout())\n	defer again.Stop()\n	select {\n	case e := <-watch.event:", `	again := time.NewTimer(c.s.currentTimeout())
	defer again.Stop()
	if c.s.client.cfg.defect == "mutant-watch-set-once" && c.watched {
		return c.overlook(ctx, again.C)
	}
	c.watched = true
	select {
	case e := <-watch.event:`},

	// mutant-expiry-ignored
	{"contender.go", "	select {\n	case e := <-watch.event:", `	if c.s.client.cfg.defect == "mutant-expiry-ignored" {
		select {
		case e := <-watch.event:
			if e.Type == zk.EventNodeDeleted {
				c.s.watch.fired(watch)
				c.q.gone(node)
				return nil
			}
			<-ctx.Done() // an event of the session, which is not about the node
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	}
	select {
	case e := <-watch.event:`},
}
