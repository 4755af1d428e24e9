package mutants

import "github.com/zkverify/zkverify/histories"

var waitingDefects = []Defect{
	{"mutant-waits-for-nobody", histories.Mutex, "progress",
		"helix PR #44",
		"watches the one before it without looking whether that has gone since the list: then nothing wakes it"},
	{"mutant-watch-lost", histories.Mutex, "progress",
		"kazoo PR #170",
		"does not set its watch again when the link has been down during the wait"},
	{"mutant-event-dropped", histories.Mutex, "progress",
		"ZOOKEEPER-3145",
		"drops the event of its watch now and then, so that only its slow look at the queue finds out"},
	{"mutant-watch-set-once", histories.Mutex, "progress",
		"a watch fires once",
		"sets no new watch when it was woken and it is not its turn yet, so that only its slow look at the queue finds out"},
	{"mutant-expiry-ignored", histories.Mutex, "progress",
		"twitter-commons #20",
		"ignores the end of its session during the wait, as the event is not about the node that it waits for"},
}

// waitingEdits are missed wake-ups. The recipes look again once in a while and so survive a
// missed one; most of the locks that had these bugs did not look again, so most of the mutants
// do not either.
var waitingEdits = []edit{
	{"internal/queue/contender.go", "// awaitAnybody waits", `// sleep waits for what will not come.
func (c *Contender) sleep(ctx context.Context) error {
	select {
	case <-c.S.Ended:
		return session.ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitAnybody waits`},

	// mutant-waits-for-nobody
	{"internal/queue/contender.go", "		c.q.gone(node) // between list and watch (helix #44)", `		if c.S.Defect() == "mutant-waits-for-nobody" {
			return c.sleep(ctx)
		}
		c.q.gone(node) // between list and watch (helix #44)`},

	// mutant-watch-lost
	{"internal/queue/contender.go", "	case <-linkChanged:\n		c.q.outdated()", `	case <-linkChanged:
		if c.S.Defect() == "mutant-watch-lost" {
			return c.sleep(ctx)
		}
		c.q.outdated()`},

	// mutant-event-dropped
	{"internal/queue/contender.go", "		c.S.WatchFired(watch)\n		if e.Type == zk.EventNodeDeleted {", `		c.S.WatchFired(watch)
		if c.S.Defect() == "mutant-event-dropped" && rand.IntN(20) == 0 {
			return c.overlook(ctx, again.C)
		}
		if e.Type == zk.EventNodeDeleted {`},
	{"internal/queue/contender.go", "	\"errors\"\n", "	\"errors\"\n	\"math/rand/v2\"\n"},
	{"internal/queue/contender.go", "// Leave deletes the contender's node.", `// overlook waits until it is time to look again, and does not look at events.
func (c *Contender) overlook(ctx context.Context, again <-chan time.Time) error {
	select {
	case <-again:
		return c.listAgain(ctx)
	case <-c.S.Ended:
		return session.ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave deletes the contender's node.`},

	// mutant-watch-set-once
	{"internal/queue/contender.go", "	joined     int64 ", "	watched    bool          // it has set a watch before\n	joined     int64 "},
	{"internal/queue/contender.go", "	again := time.NewTimer(c.q.lookAgain())\n	defer again.Stop()\n	select {\n	case e := <-watch.Event:", `	again := time.NewTimer(c.q.lookAgain())
	defer again.Stop()
	if c.S.Defect() == "mutant-watch-set-once" && c.watched {
		return c.overlook(ctx, again.C)
	}
	c.watched = true
	select {
	case e := <-watch.Event:`},

	// mutant-expiry-ignored
	{"internal/queue/contender.go", "	select {\n	case e := <-watch.Event:", `	if c.S.Defect() == "mutant-expiry-ignored" {
		select {
		case e := <-watch.Event:
			if e.Type == zk.EventNodeDeleted {
				c.S.WatchFired(watch)
				c.q.gone(node)
				return nil
			}
			<-ctx.Done() // an event of the session, which is not about the node
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	}
	select {
	case e := <-watch.Event:`},
}
