package tree

// Reapable returns the paths, sorted, that the leader would delete now: containers that
// had children and have none, and nodes without children that were not written to for
// longer than their time to live. A container that never had a child stays, unless
// maxNeverUsed, in ms, is not 0 and the container is older.
func (t *Tree) Reapable(now, maxNeverUsed int64) []string {
	var due []string
	for _, path := range t.reapable {
		n := t.nodes[path]
		age := now - n.mtime
		switch {
		case len(n.children) > 0:
		case n.kind == timed && age > n.ttl,
			n.kind == container && n.creations > 0,
			n.kind == container && maxNeverUsed != 0 && age > maxNeverUsed:
			due = append(due, path)
		}
	}
	return due
}
