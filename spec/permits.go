package spec

// resize takes a change of the size of a semaphore. A window begins with the last one before it.
func (p *splitter) resize(i int, s Step) {
	p.size = &line{kind: resized, what: s.Permits, step: i}
	if p.current != nil {
		p.keep(i, s)
		p.current.add(*p.size)
	}
}

// grantPermits takes a transaction that gives permits to contenders of a session. No size has room for
// one that does so in place of a node of another session.
func (p *splitter) grantPermits(i int, s Step) {
	w := p.current
	if len(s.Nodes) == 0 {
		return
	}
	l := line{kind: taken, who: w.of[s.Nodes[0]], at: min(s.Permits, stranger-1), step: i}
	for _, node := range s.Nodes {
		if l.what |= w.bits[node]; w.owner[node] != s.Session {
			l.at = stranger
		}
	}
	w.add(l)
}
