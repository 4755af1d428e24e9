package zktest

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Node is a node of the servers' tree.
type Node struct {
	Path     string
	Data     []byte
	Session  int64 // session that owns the ephemeral node, 0 if it is not ephemeral
	Children []string
	Czxid    int64 // the transaction that created it
}

// Node returns a node as it is now at the server that has applied the most transactions, without
// a check of permissions. It reports false if there is no such node.
func (e *Ensemble) Node(path string) (n Node, there bool) {
	e.do(func() { n, there = nodeOf(e.newest(), path) })
	return n, there
}

// Children returns the names of a node's children in order, or none if there is no such node.
func (e *Ensemble) Children(path string) []string {
	n, _ := e.Node(path)
	return n.Children
}

// Tree returns a node and all nodes below it, one line each: the path, the session of an
// ephemeral node, and the data.
func (e *Ensemble) Tree(path string) string {
	var b strings.Builder
	e.do(func() { write(&b, e.newest(), path) })
	return b.String()
}

func write(b *strings.Builder, t *tree.Tree, path string) {
	n, there := nodeOf(t, path)
	if !there {
		return
	}
	b.WriteString(path)
	if n.Session != 0 {
		fmt.Fprintf(b, " of session %#x", n.Session)
	}
	if len(n.Data) > 0 {
		fmt.Fprintf(b, " %q", n.Data)
	}
	b.WriteByte('\n')
	for _, name := range n.Children {
		write(b, t, strings.TrimSuffix(path, "/")+"/"+name)
	}
}

// newest returns the tree of the server that has applied the most transactions. The engine is
// locked.
func (e *Ensemble) newest() (newest *tree.Tree) {
	for _, id := range e.live.Cluster.IDs() {
		if t := e.live.Cluster.Tree(id); t != nil && (newest == nil || t.LastZxid() > newest.LastZxid()) {
			newest = t
		}
	}
	return newest
}

func nodeOf(t *tree.Tree, path string) (Node, bool) {
	super := []wire.ID{{Scheme: "super"}}
	ask := func(op wire.Op) wire.Record {
		r, _ := t.Read(tree.Request{Op: op, Body: &wire.PathWatch{Path: path}, Auth: super})
		return r
	}
	data, ok := ask(wire.GetData).(*wire.DataReply)
	if !ok {
		return Node{}, false
	}
	n := Node{Path: path, Data: append([]byte(nil), data.Data...), Session: data.Stat.EphemeralOwner, Czxid: data.Stat.Czxid}
	if children, ok := ask(wire.GetChildren).(*wire.ChildrenReply); ok {
		n.Children = children.Children
	}
	return n, true
}
