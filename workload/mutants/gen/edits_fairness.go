package main

// fairnessEdits are of the order of grants, and of the tokens that follow it.
var fairnessEdits = []edit{
	// mutant-new-place
	{"contender.go", "	case <-linkChanged:\n		c.q.outdated()", `	case <-linkChanged:
		if c.s.client.cfg.defect == "mutant-new-place" {
			return errNodeGone
		}
		c.q.outdated()`},

	// mutant-herd
	{"contender.go", "	for {\n		v, err := c.q.judge(c, block)", `	if c.s.client.cfg.defect == "mutant-herd" {
		return c.grab(ctx, block)
	}
	for {
		v, err := c.q.judge(c, block)`},
	{"contender.go", "// awaitOwn waits", `// grab creates the one node that says who holds the lock, as everybody tries to
// who is woken when it goes.
func (c *contender) grab(ctx context.Context, block bool) error {
	holder := c.q.dir + holderName
	for {
		_, err := retry(ctx, c.s, func() (string, error) {
			return c.s.conn.Create(holder, []byte(c.node), zk.FlagEphemeral, c.acl)
		})
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		whose, err := retry(ctx, c.s, func() (string, error) {
			data, _, err := c.s.conn.Get(holder)
			return string(data), err
		})
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue
		case err != nil || whose == c.node: // the create was carried out after all
			return err
		case !block:
			return ErrNotAcquired
		}
		if err := c.s.awaitNode(ctx, holder); err != nil {
			return err
		}
	}
}

const holderName = "/holder"

// awaitOwn waits`},
	{"claim.go", "			c.leaving()\n", `			if c.s.client.cfg.defect == "mutant-herd" {
				c.s.removeHere(c.q.dir+holderName, nil)
			}
			c.leaving()
`},

	// mutant-token-kept
	{"contender.go", "	c.node, c.token = path[", `	if c.s.client.cfg.defect == "mutant-token-kept" {
		kept, _ := c.s.client.kept.LoadOrStore(c.q.dir, token)
		token = kept.(Token)
	}
	c.node, c.token = path[`},
}
