package tree

import "github.com/zkverify/zkverify/ensemble/model/wire"

// record holds the fields of a node that the checks of a request need.
type record struct {
	acl                          []wire.ACL
	kind                         kind
	version, creations, aversion int32
	children                     int
}

// draft is a tree with the changes of the earlier parts of a multi, which are not
// applied. Only nodes that these parts touch have a record.
type draft struct {
	tree    *Tree
	records map[string]*record // nil for a deleted node
}

// node returns the record of a node, nil if there is none. It may be written to: the
// later parts of the multi see it.
func (d *draft) node(path string) *record {
	if path == "" {
		path = "/"
	}
	if r, ok := d.records[path]; ok {
		return r
	}
	n := d.tree.node(path)
	if n == nil {
		return nil
	}
	r := &record{n.acl, n.kind, n.version, n.creations, n.aversion, len(n.children)}
	d.put(path, r)
	return r
}

func (d *draft) put(path string, r *record) {
	if d.records == nil {
		d.records = map[string]*record{}
	}
	d.records[path] = r
}
