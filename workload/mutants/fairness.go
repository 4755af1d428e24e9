package mutants

import "github.com/zkverify/zkverify/histories"

var fairnessDefects = []Defect{
	{"mutant-new-place", histories.Mutex, "fairness",
		"a node that is created again",
		"goes to the end of the queue when its link has been down during the wait"},
	{"mutant-herd", histories.Mutex, "fairness",
		"the naive lock, CURATOR-716",
		"has a queue and does not keep to it: all are woken, and the fastest holds the lock"},
	{"mutant-token-kept", histories.Mutex, "fencing",
		"a token taken from an older grant",
		"issues the token of its first grant again with every later one"},
}

// fairnessEdits change the order of grants, and the tokens that follow it.
var fairnessEdits = []edit{
	// mutant-new-place
	{"internal/queue/contender.go", "	case <-linkChanged:\n		c.q.outdated()", `	case <-linkChanged:
		if c.S.Defect() == "mutant-new-place" {
			return session.ErrNodeGone
		}
		c.q.outdated()`},

	// mutant-herd
	{"internal/queue/contender.go", "	for {\n		v, err := c.q.judge(c, block)", `	if c.S.Defect() == "mutant-herd" {
		return c.grab(ctx, block)
	}
	for {
		v, err := c.q.judge(c, block)`},
	{"internal/queue/contender.go", "// awaitOwn waits", `// grab creates the one node that says who holds the lock, as everybody tries to
// who is woken when it goes.
func (c *Contender) grab(ctx context.Context, block bool) error {
	holder := c.q.dir + holderName
	for {
		_, err := session.Retry(ctx, c.S, func() (string, error) {
			return c.S.Conn.Create(holder, []byte(c.Node), zk.FlagEphemeral, c.acl)
		})
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		whose, err := session.Retry(ctx, c.S, func() (string, error) {
			data, _, err := c.S.Conn.Get(holder)
			return string(data), err
		})
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue
		case err != nil || whose == c.Node: // the create was carried out after all
			return err
		case !block:
			return ErrNotAcquired
		}
		if err := session.AwaitNode(ctx, c.S, holder, 0, session.Changed()); err != nil {
			return err
		}
	}
}

const holderName = "/holder"

// awaitOwn waits`},
	{"internal/queue/contender.go", "			c.leaving()\n", `			if c.S.Defect() == "mutant-herd" {
				session.RemoveHere(c.S, c.q.dir+holderName, nil)
			}
			c.leaving()
`},

	// mutant-token-kept
	{"internal/queue/enqueue.go", "	c.Node, c.Zxid = path[", `	if c.S.Defect() == "mutant-token-kept" {
		kept, _ := c.S.Kept.LoadOrStore(c.q.dir, zxid)
		zxid = kept.(int64)
	}
	c.Node, c.Zxid = path[`},
}
