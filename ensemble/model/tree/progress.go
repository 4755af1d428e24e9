package tree

// SetLastZxid sets the tree's zxid to that of a transaction without changes: a leader
// begins an epoch so.
func (t *Tree) SetLastZxid(zxid int64) { t.zxid = zxid }

// Count returns the numbers of nodes and of sessions.
func (t *Tree) Count() (nodes, sessions int) { return len(t.nodes), len(t.sessions) }
