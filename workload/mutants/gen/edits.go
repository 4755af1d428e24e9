package main

// edit replaces Old, which must stand exactly once in File, by New.
type edit struct{ File, Old, New string }

// edits make package mutants of package recipes. A defect is in force when the
// client was opened with its name.
var edits = []edit{
	// The switch itself.
	{"options.go", "type config struct {", "type config struct {\n\tdefect string"},
	{"options.go", "// Option configures a Client.", `// WithDefect switches a defect on, by the name of its mutant.
func WithDefect(name string) Option { return func(c *config) { c.defect = name } }

// Option configures a Client.`},

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
			l.err = s.conn.Delete(h.nodes[0], -1)
		}
		return`},

	// mutant-delete-by-name
	{"lease.go", "	if lost {\n", `	if lost {
		if h.client.cfg.defect == "mutant-delete-by-name" {
			deleteFirst(h.client, l.Path())
		}
`},
	{"lease.go", "func (l *Lease) release() {", `// deleteFirst deletes the node that holds the lock, whosever it is, however
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

func (l *Lease) release() {`},
}

// adapterEdits make the mutants' target of the recipes' one.
var adapterEdits = []struct{ old, new string }{
	{"recipesTarget is the Mutex of package recipes.", "mutantTarget is the Mutex of package mutants with one defect."},
	{"type recipesTarget struct{}", "type mutantTarget struct{ mutants.Defect }"},
	{`func (recipesTarget) Name() string   { return "recipes" }`, "func (t mutantTarget) Name() string { return t.Defect.Name }"},
	{`return "recipes.Mutex: fair, reentrant, with tokens, tells of a loss before it can matter"`, "return t.What + \" (\" + t.Bug + \")\""},
	{"func (recipesTarget) Description", "func (t mutantTarget) Description"},
	{"func (recipesTarget) Open", "func (t mutantTarget) Open"},
	{"	options := []recipes.Option{", "	options := []mutants.Option{\n		mutants.WithDefect(t.Defect.Name),"},
	{"recipesTarget", "mutantTarget"},
	{"recipesClient", "mutantClient"},
	{"recipesLease", "mutantLease"},
	{"wrapLease", "wrapMutantLease"},
	{"recipes.Lease", "mutants.Lease"},
	{"zkverify/recipes\"", "zkverify/workload/mutants\""},
	{"recipes.", "mutants."},
}
