package tree

import (
	"maps"
	"slices"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// ConfigPath is the node whose data is the ensemble's configuration.
const ConfigPath = "/zookeeper/config"

var (
	openACL     = []wire.ACL{{Perms: wire.PermAll, ID: anyone}}
	readOnlyACL = []wire.ACL{{Perms: wire.PermRead, ID: anyone}}
)

// Tree holds the nodes and sessions of a server. It must not be used by two goroutines at
// a time.
type Tree struct {
	release    Release
	zxid       int64
	nodes      map[string]*node
	sessions   map[int64]int32    // timeouts, ms
	ephemerals map[int64][]string // paths by session, sorted
	reapable   []string           // paths of containers and timed nodes, sorted
}

// New returns the tree of a server of 3.8 that has seen no transaction.
func New() *Tree { return NewRelease(V38) }

// NewRelease returns the tree of a server that has seen no transaction.
func NewRelease(r Release) *Tree {
	return &Tree{
		release: r,
		nodes: map[string]*node{
			"/":                {data: []byte{}, acl: openACL, children: []string{"zookeeper"}},
			"/zookeeper":       {data: []byte{}, acl: openACL, children: []string{"config", "quota"}},
			"/zookeeper/quota": {data: []byte{}, acl: openACL},
			ConfigPath:         {data: []byte{}, acl: readOnlyACL, aversion: -1},
		},
		sessions:   map[int64]int32{},
		ephemerals: map[int64][]string{},
	}
}

// Clone returns a tree that is equal and independent.
func (t *Tree) Clone() *Tree {
	c := *t
	c.nodes = make(map[string]*node, len(t.nodes))
	for path, n := range t.nodes {
		c.nodes[path] = n.clone()
	}
	c.sessions = maps.Clone(t.sessions)
	c.ephemerals = make(map[int64][]string, len(t.ephemerals))
	for s, paths := range t.ephemerals {
		c.ephemerals[s] = slices.Clone(paths)
	}
	c.reapable = slices.Clone(t.reapable)
	return &c
}

// LastZxid returns the zxid of the last transaction, 0 for none.
func (t *Tree) LastZxid() int64 { return t.zxid }

// Release returns the version of ZooKeeper that the tree follows.
func (t *Tree) Release() Release { return t.release }

// SetConfig sets the data of the configuration's node, as a server does when it starts.
// It makes neither a transaction nor an event, and uses the server's own time. zxid is
// that of the reconfiguration, 0 for a configuration from files.
func (t *Tree) SetConfig(data []byte, zxid, now int64) {
	n := t.nodes[ConfigPath]
	n.data, n.version, n.mzxid, n.mtime = data, -1, zxid, now
}

// Stat returns the stat of a node, without regard to permissions.
func (t *Tree) Stat(path string) (wire.Stat, bool) {
	n := t.node(path)
	if n == nil {
		return wire.Stat{}, false
	}
	return n.stat(), true
}

// ACL returns the ACL of a node, nil if there is none.
func (t *Tree) ACL(path string) []wire.ACL {
	n := t.node(path)
	if n == nil {
		return nil
	}
	return n.acl
}

// node returns a node, nil if there is none. The root has two paths, "/" and "", which is
// the parent of "/a".
func (t *Tree) node(path string) *node {
	if path == "" {
		path = "/"
	}
	return t.nodes[path]
}
