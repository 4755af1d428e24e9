package main

// waitingEdits are of missed wake-ups. The recipes look again once in a while
// whatever they have missed, which the locks that had these bugs did not do: so
// the mutants do not either.
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
