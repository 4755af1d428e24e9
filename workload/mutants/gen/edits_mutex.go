package main

var mutexEdits = []edit{
	// mutant-read-heartbeat
	{"heartbeat.go", "responses, err := s.conn.Multi(ops...)", `var responses []zk.MultiResponse
		var err error
		if s.client.cfg.defect == "mutant-read-heartbeat" {
			_, _, err = s.conn.Exists(paths[0])
		} else {
			responses, err = s.conn.Multi(ops...)
		}`},
	{"session.go", "	if confirmedWrite {", `	if confirmedWrite || s.client.cfg.defect == "mutant-read-heartbeat" {`},

	// mutant-no-session-check
	{"mutex.go", "import (", "import (\n\t\"errors\""},
	{"mutex.go", `	if err := c.wait(ctx, block); err != nil {`, `	if err := c.wait(ctx, block); err != nil {
		if block && errors.Is(err, errSessionEnded) && m.client.cfg.defect == "mutant-no-session-check" {
			return newHold(ctx, m.client, claim(c), key, &m.cfg, asked)
		}`},
	{"lease.go", "	if s.over {\n		return nil, errSessionEnded", `	if client.cfg.defect == "mutant-no-session-check" && s.over {
		h.timer = time.AfterFunc(time.Hour, func() {})
		return h, nil
	}
	if s.over {
		return nil, errSessionEnded`},
	{"lease.go", "	return l.open() && time.Now()", `	if l.hold.client.cfg.defect == "mutant-no-session-check" {
		return l.open()
	}
	return l.open() && time.Now()`},

	// mutant-inner-release
	{"lease.go", "	if !last {\n		return", `	if !last {
		if h.client.cfg.defect == "mutant-inner-release" {
			l.err = h.s.conn.Delete(h.nodes[0], -1)
		}
		return`},

	// mutant-delete-by-name
	{"lease.go", "	if lost {\n", `	if lost {
		if h.client.cfg.defect == "mutant-delete-by-name" {
			deleteFirst(h.client, l.Path())
		}
`},
	{"lease.go", "// release deletes the lock node after the last lease.\n", `// deleteFirst deletes the node that holds the lock, whosever it is, however
// many sessions it takes.
func deleteFirst(c *Client, path string) {
	for {
		s, err := c.session(c.quit)
		if err != nil {
			return
		}
		children, err := retry(c.quit, s, func() ([]string, error) {
			children, _, err := s.conn.Children(path)
			return children, err
		})
		if err != nil {
			continue
		}
		if entries := queue(children, lockKinds); len(entries) > 0 {
			<-s.deleteInBackground(path + "/" + entries[0].Node, nil)
		}
		return
	}
}

// release deletes the lock node after the last lease.
`},
}
