package inspect

import "github.com/go-zookeeper/zk"

// counter counts the children that a node has had, by the node's stat.
type counter struct {
	node     int64 // czxid: another node at that path counts anew
	changes  int32 // children that came and that went, modulo 2³²
	children int32
}

func countOf(stat *zk.Stat) counter {
	if stat == nil {
		return counter{}
	}
	return counter{stat.Czxid, stat.Cversion, stat.NumChildren}
}

// since counts the children that came and went since an earlier time. The count is exact,
// however short the children stayed. It reports false when the node is not the same.
func (c counter) since(before counter) (came, went int, ok bool) {
	if c.node == 0 || c.node != before.node {
		return 0, 0, false
	}
	changes, more := int64(uint32(c.changes-before.changes)), int64(c.children-before.children)
	return int((changes + more) / 2), int((changes - more) / 2), true
}
