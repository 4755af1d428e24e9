package mutants

import "github.com/zkverify/zkverify/histories"

var mutexDefects = []Defect{
	{"mutant-read-heartbeat", histories.Mutex, "mutual exclusion",
		"Curator's and every stock client's view of the link",
		"takes any answer of its server for a heartbeat, also that of a follower cut off from its leader"},
	{"mutant-no-session-check", histories.Mutex, "mutual exclusion",
		"etcd #11456",
		"does not look at its session again after the wait: an expiry ends the wait, and looks like its turn"},
	{"mutant-inner-release", histories.Mutex, "reentrancy",
		"kazoo #291",
		"the release of a re-entry deletes the lock node of the outer hold"},
	{"mutant-delete-by-name", histories.Mutex, "mutual exclusion",
		"etcd #22082",
		"the release of a lease that was lost deletes the node that holds the lock now, another client's too"},
}

var mutexEdits = []edit{
	// mutant-read-heartbeat
	{"internal/session/heartbeat.go", `	_, err := beating(b, func() (string, error) { return b.s.Conn.Sync("/") })
`, `	_, err := beating(b, func() (string, error) {
		if b.s.Defect() == "mutant-read-heartbeat" {
			_, _, err := b.s.Conn.Exists("/")
			return "", err
		}
		return b.s.Conn.Sync("/")
	})
`},
	{"internal/session/heartbeat.go", "	responses, err := beating(", `	if b.s.Defect() == "mutant-read-heartbeat" {
		_, _, err := b.s.Conn.Exists(paths[0])
		return err
	}
	responses, err := beating(`},
	{"internal/session/connector.go", "	if by == confirmed {\n", `	if s.Defect() == "mutant-read-heartbeat" {
		by = confirmed
	}
	if by == confirmed {
`},

	// mutant-no-session-check
	{"mutex.go", "import (", "import (\n\t\"errors\""},
	{"mutex.go", `	if err := c.Wait(ctx, block); err != nil {`, `	if err := c.Wait(ctx, block); err != nil {
		if block && errors.Is(err, session.ErrEnded) && m.client.cfg.Defect == "mutant-no-session-check" {
			return newHold(ctx, m.client.holds, grant(c), key, m.cfg.revoked, asked)
		}`},
	{"hold.go", "		if left, err = s.Left(); err != nil {\n", `		if h.S.Defect() == "mutant-no-session-check" && s.Over() {
			h.timer = time.AfterFunc(time.Hour, func() {})
			return
		}
		if left, err = s.Left(); err != nil {
`},
	{"lease.go", "	return l.open() && l.hold.S.Remaining()", `	if l.hold.S.Defect() == "mutant-no-session-check" {
		return l.open()
	}
	return l.open() && l.hold.S.Remaining()`},

	// mutant-inner-release
	{"lease.go", "	if !last {\n		return", `	if !last {
		if h.S.Defect() == "mutant-inner-release" {
			l.err = h.S.Conn.Delete(h.Nodes[0], -1)
		}
		return`},

	// mutant-delete-by-name
	{"lease.go", "	if lost {\n", `	if lost {
		if h.S.Defect() == "mutant-delete-by-name" {
			deleteFirst(h.registry.sessions, l.Path())
		}
`},
	{"lease.go", "// release deletes the lock node after the last lease.\n", `// deleteFirst deletes the node that holds the lock, whosever it is, however
// many sessions it takes.
func deleteFirst(sessions *session.Keeper, path string) {
	for {
		s, err := sessions.Get(context.Background())
		if err != nil {
			return
		}
		children, err := session.Retry(context.Background(), s, func() ([]string, error) {
			children, _, err := s.Conn.Children(path)
			return children, err
		})
		if err != nil {
			continue
		}
		if entries := queue.Places(children, queue.Locks); len(entries) > 0 {
			<-session.DeleteInBackground(s, path+"/"+entries[0].Node, nil)
		}
		return
	}
}

// release deletes the lock node after the last lease.
`},
}
