package main

// cleanUpEdits are defects in what an acquire or a release leaves behind.
var cleanUpEdits = []edit{
	// mutant-cancelled-acquire
	{"mutex.go", "	if err := c.wait(ctx, block); err != nil {\n", `	if err := c.wait(ctx, block); err != nil {
		if block && ctx.Err() != nil && m.client.cfg.defect == "mutant-cancelled-acquire" {
			return newHold(ctx, m.client, claim(c), key, &m.cfg, asked)
		}
`},

	// mutant-cancelled-create
	{"contender.go", "	abandoned := func(paths []string, err error) {\n", `	abandoned := func(paths []string, err error) {
		if s.client.cfg.defect == "mutant-cancelled-create" {
			return
		}
`},

	// mutant-cancelled-clean-up, mutant-swallowed-clean-up
	{"contender.go", "	c.leaving()\n	return c.s.remove(ctx, c.path(), c.gone)", `	c.leaving()
	switch c.s.client.cfg.defect {
	case "mutant-cancelled-clean-up":
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	case "mutant-swallowed-clean-up":
		_, _ = call(ctx, c.s, func() (struct{}, error) { return struct{}{}, c.s.conn.Delete(c.path(), -1) }, nil)
		c.gone()
		return nil
	}
	return c.s.remove(ctx, c.path(), c.gone)`},

	// mutant-second-node
	{"contender.go", "		found, err := findContenders(ctx, s, all)\n", `		if s.client.cfg.defect == "mutant-second-node" {
			if err := s.awaitUp(ctx); err != nil {
				return err
			}
			continue
		}
		found, err := findContenders(ctx, s, all)
`},

	// mutant-second-entry
	{"owner.go", "key.kind == leaseKind && h.open() {", `key.kind == leaseKind && h.open() && h.client.cfg.defect != "mutant-second-entry" {`},

	// mutant-others-lease
	{"lease.go", "	if lost {\n", `	if lost {
		if h.client.cfg.defect == "mutant-others-lease" {
			deleteOldest(h.client, l.Path()+leasesDir, leaseKinds)
		}
`},
	{"lease.go", "// release deletes the lock node after the last lease.\n", `// stubbornly repeats a request in one session after the other until a server
// answers.
func stubbornly(c *Client, request func(*zk.Conn) error) {
	for {
		s, err := c.session(c.quit)
		if err != nil {
			return
		}
		if _, err := retry(c.quit, s, func() (struct{}, error) { return struct{}{}, request(s.conn) }); err == nil || answered(err) && !errors.Is(err, errSessionEnded) {
			return
		}
	}
}

// deleteOldest deletes the oldest node of these kinds, whosever it is.
func deleteOldest(c *Client, dir string, kinds []string) {
	stubbornly(c, func(conn *zk.Conn) error {
		children, _, err := conn.Children(dir)
		if places := queue(children, kinds); len(places) > 0 {
			err = conn.Delete(dir+"/"+places[0].Node, -1)
		}
		return err
	})
}

// release deletes the lock node after the last lease.
`},
}
