package main

// freeEdits are defects that leave a lock in somebody's way that was given back.
var freeEdits = []edit{
	// mutant-release-unanswered
	{"lease.go", "	if err := h.release(false); errors.Is(err, zk.ErrNoNode) {\n", `	if h.client.cfg.defect == "mutant-release-unanswered" {
		h.s.spawn(func() { _ = h.release(false) })
		return
	}
	if err := h.release(false); errors.Is(err, zk.ErrNoNode) {
`},

	// mutant-goroutine-per-wait
	{"contender.go", "			err = c.awaitOther(ctx, v.other)\n		}\n		if err != nil {\n", `			err = c.awaitOther(ctx, v.other)
		}
		if ctx.Err() != nil && c.s.client.cfg.defect == "mutant-goroutine-per-wait" {
			c.s.spawn(func() { <-c.s.ended })
		}
		if err != nil {
`},

	// mutant-moody-try
	{"contender.go", "		case v.granted:\n			return nil\n", `		case v.granted && !block && c.s.client.cfg.defect == "mutant-moody-try" && rand.IntN(50) == 0:
			return ErrNotAcquired
		case v.granted:
			return nil
`},
	{"contender.go", "	\"errors\"\n", "	\"errors\"\n	\"math/rand/v2\"\n"},

	// mutant-close-leaves-session
	{"client.go", "	c.stop()\n	if s != nil {\n		s.end(", `	c.stop()
	if s != nil {
		if c.cfg.defect == "mutant-close-leaves-session" {
			s.stop() // it connects to nobody any more
			s.reconnect()
		}
		s.end(`},
}
