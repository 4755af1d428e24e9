package tree

// SetLastZxid says that the tree stands at a transaction that changes nothing: a leader
// begins an epoch so.
func (t *Tree) SetLastZxid(zxid int64) { t.zxid = zxid }

// Count returns how many nodes and sessions there are.
func (t *Tree) Count() (nodes, sessions int) { return len(t.nodes), len(t.sessions) }
