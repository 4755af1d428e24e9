package mutants

import "github.com/zkverify/zkverify/histories"

var semaphoreDefects = []Defect{
	{"mutant-semaphore-no-queue", histories.Semaphore, "permits",
		"kazoo PR #214",
		"counts the permits that are out and takes its own without having its turn: two that count at the same time take the same one"},
	{"mutant-semaphore-counts-nodes", histories.Semaphore, "permits",
		"kazoo PR #214",
		"counts the nodes of those who hold permits, and not how many each of them holds"},
	{"mutant-semaphore-cancelled", histories.Semaphore, "no leak",
		"CURATOR-462, kazoo #429",
		"a waiter that is cancelled when its permits have just been taken leaves them behind"},
	{"mutant-semaphore-unanswered", histories.Semaphore, "no leak",
		"CURATOR-335, CURATOR-315",
		"does not look for permits whose taking was not answered, and takes others"},
	{"mutant-semaphore-one-by-one", histories.Semaphore, "progress",
		"Curator's semaphore with more than one permit",
		"takes several permits one after the other, and holds some while it waits for the rest"},
	{"mutant-semaphore-releases-one", histories.Semaphore, "no leak",
		"Curator's semaphore with more than one permit",
		"gives back one permit of those that were taken together"},
	{"mutant-semaphore-raise-unnoticed", histories.SharedSemaphore, "progress",
		"CURATOR-75",
		"does not watch the shared size: when it is raised no waiter is woken, and each looks by itself later"},
	{"mutant-semaphore-return-unnoticed", histories.SharedSemaphore, "progress",
		"a watch that is set and not waited for",
		"waits for the shared size alone: when others give permits back no waiter is woken, and each looks by itself later"},
	{"mutant-semaphore-no-new-count", histories.SharedSemaphore, "permits",
		"an optimistic write that is repeated with the version alone",
		"takes permits that it counted before the shared size changed"},
	{"mutant-semaphore-size-grows", histories.SharedSemaphore, "permits",
		"a shared size that is remembered",
		"goes on by the size that it knows when the shared size is lowered"},
}

var semaphoreEdits = []edit{
	// mutant-semaphore-no-queue
	{"internal/queue/pool.go", "		err := c.Wait(ctx, block)\n		t := batchOf(c)", `		var err error
		if s.Defect() != "mutant-semaphore-no-queue" {
			err = c.Wait(ctx, block)
		}
		t := batchOf(c)`},

	// mutant-semaphore-counts-nodes
	{"internal/queue/batch.go", "		for range requestOf(c).n {\n			ops", `		nodes := requestOf(c).n
		if b.s.Defect() == "mutant-semaphore-counts-nodes" {
			nodes = 1
		}
		for range nodes {
			ops`},
	{"internal/queue/batch.go", "case len(made.paths[c]) == a.n:", `case len(made.paths[c]) == a.n, b.s.Defect() == "mutant-semaphore-counts-nodes" && len(made.paths[c]) == 1:`},

	// mutant-semaphore-cancelled
	{"internal/queue/request.go", "	c.S.Spawn(func() { a.on.Release(false) })", `	if c.S.Defect() == "mutant-semaphore-cancelled" {
		return
	}
	c.S.Spawn(func() { a.on.Release(false) })`},

	// mutant-semaphore-unanswered
	{"internal/queue/batch.go", "			if given, err = b.find(ctx, present); err == nil && given != nil {", `			if b.s.Defect() == "mutant-semaphore-unanswered" {
				continue
			}
			if given, err = b.find(ctx, present); err == nil && given != nil {`},

	// mutant-semaphore-one-by-one
	{"internal/queue/pool.go", "	c := NewContender(s, Entry{Dir: p.Path", `	if n > 1 && s.Defect() == "mutant-semaphore-one-by-one" {
		return p.contendOneByOne(ctx, s, n, block, placed)
	}
	c := NewContender(s, Entry{Dir: p.Path`},
	{"internal/queue/pool.go", "// Contend takes n permits in one session.", `// contendOneByOne takes n permits one after the other, and keeps those that it
// has while it waits for the next.
func (p *Pool) contendOneByOne(ctx context.Context, s *session.Session, n int, block bool, placed func(*Contender)) (all Grant, err error) {
	var ones []Grant
	release := func(lost bool) (err error) {
		for _, one := range ones {
			err = errors.Join(err, one.Release(lost))
		}
		return err
	}
	for range n {
		one, err := p.Contend(ctx, s, 1, block, placed)
		if err != nil {
			s.Spawn(func() { release(true) })
			return Grant{}, err
		}
		ones = append(ones, one)
		all.Nodes, all.Zxid, all.Sub = append(all.Nodes, one.Nodes...), one.Zxid, one.Sub
	}
	all.S, all.Permits, all.Data, all.Release = s, n, p.Data, release
	return all, nil
}

// Contend takes n permits in one session.`},

	// mutant-semaphore-raise-unnoticed
	{"internal/queue/pool.go", "		if p.Count != nil {\n			event, err := session.Watch(", `		if p.Count != nil && c.S.Defect() != "mutant-semaphore-raise-unnoticed" {
			event, err := session.Watch(`},

	// mutant-semaphore-return-unnoticed
	{"internal/queue/pool.go", "		room.changed = append(room.changed, event)\n		if p.Count", `		if c.S.Defect() != "mutant-semaphore-return-unnoticed" {
			room.changed = append(room.changed, event)
		}
		if p.Count`},

	// mutant-semaphore-no-new-count
	{"internal/queue/batch.go", "		case errors.Is(err, errNoPermits):\n", `		case errors.Is(err, errAskAgain) && b.s.Defect() == "mutant-semaphore-no-new-count":
			_, b.version, err = b.pool.Count.Read(ctx, b.s)
		case errors.Is(err, errNoPermits):
`},

	// mutant-semaphore-size-grows
	{"internal/queue/pool.go", "		if room.size, room.version, err = p.Count.Read(ctx, c.S); err != nil {\n			return room, err\n		}\n", `		if room.size, room.version, err = p.Count.Read(ctx, c.S); err != nil {
			return room, err
		}
		if c.S.Defect() == "mutant-semaphore-size-grows" {
			if most, ok := c.S.Kept.Load(p.Count.Path); ok {
				room.size = max(room.size, most.(int))
			}
			c.S.Kept.Store(p.Count.Path, room.size)
		}
`},

	// mutant-semaphore-releases-one
	{"internal/queue/batch.go", "			err := session.RemoveAllHere(c.S, paths, ", `			paths := paths
			if c.S.Defect() == "mutant-semaphore-releases-one" {
				paths = paths[:1]
			}
			err := session.RemoveAllHere(c.S, paths, `},
}
