package tree

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// kind is the kind of a node: it lives until deleted, with its session, with its
// children, or to an age.
type kind int

const (
	persistent kind = iota
	ephemeral
	container
	timed
)

// node is a node of the tree. Its data and ACL are never written to, so clones share them.
type node struct {
	data     []byte
	acl      []wire.ACL
	kind     kind
	owner    int64 // the session, of an ephemeral node
	ttl      int64 // ms, of a timed node
	children []string

	czxid, mzxid, pzxid          int64
	ctime, mtime                 int64
	version, creations, aversion int32
}

// cversion returns the version of the list of children, which counts its changes: every
// child was created, and all but the present children were deleted. A node stores only
// the number of creations.
func (n *node) cversion() int32 { return n.creations*2 - int32(len(n.children)) }

func (n *node) stat() wire.Stat {
	s := wire.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid,
		Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Cversion: n.cversion(), Aversion: n.aversion,
		DataLength: int32(len(n.data)), NumChildren: int32(len(n.children)),
	}
	if n.kind == ephemeral {
		s.EphemeralOwner = n.owner
	}
	return s
}

func (n *node) clone() *node {
	c := *n
	c.children = slices.Clone(n.children)
	return &c
}

// parent returns the path of a node's parent, and the node's name in it. The path has a
// slash.
func parent(path string) (dir, name string) {
	slash := strings.LastIndexByte(path, '/')
	return path[:slash], path[slash+1:]
}

// insert adds a string to a sorted list that may have it.
func insert(list []string, s string) []string {
	i, has := slices.BinarySearch(list, s)
	if has {
		return list
	}
	return slices.Insert(list, i, s)
}

// remove takes a string from a sorted list that may lack it.
func remove(list []string, s string) []string {
	i, has := slices.BinarySearch(list, s)
	if !has {
		return list
	}
	return slices.Delete(list, i, i+1)
}
