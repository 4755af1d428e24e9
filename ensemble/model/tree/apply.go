package tree

import "github.com/zkverify/zkverify/ensemble/model/wire"

// Apply carries out a transaction. A tree that lacks the nodes of the transaction,
// because the transaction was made for another tree, fails with NoNode or NodeExists as
// the real server does.
func (t *Tree) Apply(x *Txn) Outcome {
	t.zxid = max(t.zxid, x.Zxid)
	m, ok := x.Change.(Multi)
	if !ok {
		return t.applyChange(x, x.Op, x.Change)
	}
	var o Outcome
	reply := &wire.MultiReply{Results: make([]wire.Result, 0, len(m.Parts))}
	for _, p := range settledParts(m.Parts) {
		part := t.applyChange(x, p.Op, p.Change)
		o.Events = append(o.Events, part.Events...)
		reply.Results = append(reply.Results, result(p.Op, part))
	}
	o.Reply = reply
	return o
}

// settledParts returns the parts of a multi. If one of them failed it returns an Error
// for each part, OK for those before it.
func settledParts(parts []Part) []Part {
	settled := make([]Part, len(parts))
	failed := false
	for i, p := range parts {
		settled[i] = Part{wire.ErrorOp, Error{wire.OK}}
		if _, isError := p.Change.(Error); isError {
			settled[i], failed = p, true
		}
	}
	if failed {
		return settled
	}
	return parts
}

// result returns the result of a part of a multi. Creates that are answered with a stat
// all have the operation Create2.
func result(op wire.Op, o Outcome) wire.Result {
	if op == wire.ErrorOp || o.Err != wire.OK {
		return wire.Result{Op: wire.ErrorOp, Err: o.Err, Body: &wire.ErrorReply{Err: o.Err}}
	}
	if op == wire.CreateContainer || op == wire.CreateTTL {
		op = wire.Create2
	}
	return wire.Result{Op: op, Body: o.Reply}
}

func (t *Tree) applyChange(x *Txn, op wire.Op, change Change) Outcome {
	switch c := change.(type) {
	case Create:
		return t.applyCreate(x, op, c)
	case Delete:
		return t.applyDelete(x, c.Path)
	case SetData:
		n := t.node(c.Path)
		if n == nil {
			return Outcome{Err: wire.NoNode}
		}
		n.data, n.version, n.mzxid, n.mtime = c.Data, c.Version, x.Zxid, x.Time
		stat := n.stat()
		return Outcome{Reply: &stat, Events: []Event{{wire.NodeDataChanged, c.Path, x.Zxid, n.acl}}}
	case SetACL:
		n := t.node(c.Path)
		if n == nil {
			return Outcome{Err: wire.NoNode}
		}
		n.acl, n.aversion = c.ACL, c.Version
		stat := n.stat()
		return Outcome{Reply: &stat}
	case CreateSession:
		t.sessions[x.Session] = c.Timeout
	case CloseSession:
		return t.applyCloseSession(x, c.Paths)
	case Error:
		return Outcome{Err: c.Code}
	}
	return Outcome{} // Check
}

// applyCloseSession deletes the nodes that the leader listed, and any others that the
// session has here.
func (t *Tree) applyCloseSession(x *Txn, paths []string) Outcome {
	var o Outcome
	delete(t.sessions, x.Session)
	for _, path := range append(paths[:len(paths):len(paths)], t.Ephemerals(x.Session)...) {
		o.Events = append(o.Events, t.applyDelete(x, path).Events...)
	}
	delete(t.ephemerals, x.Session)
	return o
}

func (t *Tree) applyCreate(x *Txn, op wire.Op, c Create) Outcome {
	dir, name := parent(c.Path)
	p := t.node(dir)
	if p == nil {
		return Outcome{Err: wire.NoNode}
	}
	if t.node(c.Path) != nil {
		return Outcome{Err: wire.NodeExists}
	}
	// Creations wrap around after the largest number. A smaller number leaves the parent as it
	// is: from there on all sequential children get the same number.
	if c.ParentCversion > p.creations {
		p.creations, p.pzxid = c.ParentCversion, x.Zxid
	}
	p.children = insert(p.children, name)
	n := &node{data: c.Data, acl: c.ACL, czxid: x.Zxid, mzxid: x.Zxid, pzxid: x.Zxid, ctime: x.Time, mtime: x.Time}
	switch {
	case c.Ephemeral:
		n.kind, n.owner = ephemeral, x.Session
		t.ephemerals[x.Session] = insert(t.ephemerals[x.Session], c.Path)
	case c.Container:
		n.kind = container
		t.reapable = insert(t.reapable, c.Path)
	case c.TTL > 0:
		n.kind, n.ttl = timed, c.TTL
		t.reapable = insert(t.reapable, c.Path)
	}
	t.nodes[c.Path] = n
	o := Outcome{Reply: &wire.CreateReply{Path: c.Path, Stat: n.stat()}, Events: []Event{
		{wire.NodeCreated, c.Path, x.Zxid, c.ACL},
		{wire.NodeChildrenChanged, named(dir), x.Zxid, p.acl},
	}}
	if op == wire.Create {
		o.Reply = &wire.Path{Path: c.Path}
	}
	return o
}

func (t *Tree) applyDelete(x *Txn, path string) Outcome {
	dir, name := parent(path)
	p, n := t.node(dir), t.node(path)
	if p == nil || n == nil {
		return Outcome{Err: wire.NoNode}
	}
	p.children = remove(p.children, name)
	p.pzxid = max(p.pzxid, x.Zxid)
	delete(t.nodes, path)
	switch n.kind {
	case ephemeral:
		t.ephemerals[n.owner] = remove(t.ephemerals[n.owner], path)
	case container, timed:
		t.reapable = remove(t.reapable, path)
	}
	return Outcome{Events: []Event{
		{wire.NodeDeleted, path, x.Zxid, n.acl},
		{wire.NodeChildrenChanged, named(dir), x.Zxid, p.acl},
	}}
}

// named returns the path that events use for a parent.
func named(dir string) string {
	if dir == "" {
		return "/"
	}
	return dir
}
