package mutants

import "github.com/zkverify/zkverify/histories"

// cleanUpDefects leave nodes behind, after an acquire or a release.
var cleanUpDefects = []Defect{
	{"mutant-cancelled-acquire", histories.Mutex, "mutual exclusion",
		"vitess #8309",
		"an acquire that is cancelled returns a lease, and no error"},
	{"mutant-cancelled-create", histories.Mutex, "no leak",
		"CURATOR-79, -62, -205, -202",
		"the node of an acquire that is cancelled while the create is under way stays"},
	{"mutant-cancelled-clean-up", histories.Mutex, "no leak",
		"vitess #15756",
		"deletes the node of a cancelled acquire with the context that was cancelled"},
	{"mutant-swallowed-clean-up", histories.Mutex, "progress",
		"kazoo #732",
		"a failed try deletes its node once, and does not look at what became of that"},
	{"mutant-forgotten-node", histories.Mutex, "progress",
		"CURATOR-678, -486",
		"a release that is not answered forgets the node instead of deleting it again"},
	{"mutant-second-node", histories.Mutex, "progress",
		"CURATOR-45, Netflix/curator #3, samuel/go-zookeeper #229",
		"creates a second node when the reply to the create is lost; the first is forgotten, and blocks everybody"},
	{"mutant-second-entry", histories.NonReentrant, "reentrancy",
		"Curator's InterProcessSemaphoreMutex knows no owner",
		"lets the owner of a lock that is not reentrant in a second time"},
	{"mutant-others-lease", histories.NonReentrant, "mutual exclusion",
		"CURATOR-376",
		"the release of a lease that was lost deletes the lease of another"},
}

// cleanUpEdits are the edits of cleanUpDefects.
var cleanUpEdits = []edit{
	// mutant-cancelled-acquire
	{"mutex.go", "	if err := c.Wait(ctx, block); err != nil {\n", `	if err := c.Wait(ctx, block); err != nil {
		if block && ctx.Err() != nil && m.client.cfg.Defect == "mutant-cancelled-acquire" {
			return newHold(ctx, m.client.holds, grant(c), key, m.cfg.revoked, asked)
		}
`},

	// mutant-cancelled-create
	{"internal/queue/given_up.go", "func abandoned(s *session.Session, all []*Contender, paths []string, err error) {\n", `func abandoned(s *session.Session, all []*Contender, paths []string, err error) {
	if s.Defect() == "mutant-cancelled-create" {
		return
	}
`},

	// mutant-cancelled-clean-up, mutant-swallowed-clean-up
	{"internal/queue/contender.go", "	c.leaving()\n	session.Remove(ctx, c.S, c.path(), c.gone)", `	c.leaving()
	switch c.S.Defect() {
	case "mutant-cancelled-clean-up":
		if ctx.Err() != nil {
			return
		}
	case "mutant-swallowed-clean-up":
		_, _ = session.Call(ctx, c.S, func() (struct{}, error) { return struct{}{}, c.S.Conn.Delete(c.path(), -1) }, nil)
		c.gone()
		return
	}
	session.Remove(ctx, c.S, c.path(), c.gone)`},

	// mutant-second-node
	{"internal/queue/enqueue.go", "		found, err := findContenders(ctx, s, all)\n", `		if s.Defect() == "mutant-second-node" {
			if err := s.AwaitUp(ctx); err != nil {
				return err
			}
			continue
		}
		found, err := findContenders(ctx, s, all)
`},

	// mutant-second-entry
	{"registry.go", "key.kind == queue.Permit && h.open() {", `key.kind == queue.Permit && h.open() && h.S.Defect() != "mutant-second-entry" {`},

	// mutant-others-lease
	{"lease.go", "	if lost {\n", `	if lost {
		if h.S.Defect() == "mutant-others-lease" {
			deleteOldest(h.registry.sessions, l.Path()+queue.LeasesDir, queue.Permits)
		}
`},
	{"lease.go", "// release deletes the lock node after the last lease.\n", `// stubbornly repeats a request in one session after the other until a server
// answers.
func stubbornly(sessions *session.Keeper, request func(*zk.Conn) error) {
	for {
		s, err := sessions.Get(context.Background())
		if err != nil {
			return
		}
		if _, err := session.Retry(context.Background(), s, func() (struct{}, error) { return struct{}{}, request(s.Conn) }); err == nil || session.Answered(err) && !errors.Is(err, session.ErrEnded) {
			return
		}
	}
}

// deleteOldest deletes the oldest node of these kinds, whosever it is.
func deleteOldest(sessions *session.Keeper, dir string, kinds []string) {
	stubbornly(sessions, func(conn *zk.Conn) error {
		children, _, err := conn.Children(dir)
		if places := queue.Places(children, kinds); len(places) > 0 {
			err = conn.Delete(dir+"/"+places[0].Node, -1)
		}
		return err
	})
}

// release deletes the lock node after the last lease.
`},
}
