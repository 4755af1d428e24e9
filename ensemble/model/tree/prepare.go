package tree

import "github.com/zkverify/zkverify/ensemble/model/wire"

// Prepare makes the transaction of a request, as the leader does: it decides whether the
// request succeeds, which nodes it concerns and which versions they get. The tree has all
// earlier transactions applied; Prepare does not change it. A request that fails becomes
// an [Error], which takes a zxid as the others do.
//
// The request is a change, or the begin or the end of a session. The caller checks before
// that the session is alive.
func Prepare(ahead *Tree, r Request, zxid, now int64) Txn {
	x := Txn{Session: r.Session, Cxid: r.Cxid, Zxid: zxid, Time: now, Op: r.Op}
	switch r.Op {
	case wire.CreateSession:
		x.Change = CreateSession{r.Timeout}
		return x
	case wire.CloseSession:
		x.Change = CloseSession{ahead.Ephemerals(r.Session)}
		return x
	}
	var code wire.Code
	d := &draft{tree: ahead}
	if r.Op == wire.Multi {
		x.Change, code = d.multi(r)
	} else {
		x.Change, code = d.change(r.Op, r.Body, r.Auth)
	}
	if code != wire.OK {
		x.Op, x.Change = wire.ErrorOp, Error{code}
	}
	return x
}

// Malformed returns the error of a request that is refused before its session is checked:
// one that cannot be read, a create whose flags and time to live do not fit, or a multi
// that begins with one.
func Malformed(release Release, r Request) wire.Code {
	op, body := r.Op, r.Body
	if b, is := body.(*wire.MultiRequest); is {
		ops, code := partOps(release, b.Parts)
		if code != wire.OK || len(ops) == 0 {
			return code
		}
		op = ops[0]
		if body, is = partBody(op, b.Parts[0].Body); !is {
			return wire.MarshallingError
		}
	}
	switch b := body.(type) {
	case nil:
		return wire.MarshallingError
	case *wire.CreateRequest:
		return (&creation{op: op, CreateRequest: *b, ttl: -1}).checkMode()
	case *wire.CreateTTLRequest:
		return (&creation{op: op, CreateRequest: b.CreateRequest, ttl: b.TTL}).checkMode()
	}
	return wire.OK
}

// change checks one change, and notes it in the draft.
func (d *draft) change(op wire.Op, body wire.Record, ids []wire.ID) (Change, wire.Code) {
	switch b := body.(type) {
	case *wire.CreateRequest:
		return d.create(creation{op: op, CreateRequest: *b, ttl: -1}, ids)
	case *wire.CreateTTLRequest:
		return d.create(creation{op: op, CreateRequest: b.CreateRequest, ttl: b.TTL}, ids)
	case *wire.PathVersion:
		if op == wire.Delete {
			return d.delete(b.Path, b.Version, ids)
		}
		return d.check(b.Path, b.Version, ids)
	case *wire.SetDataRequest:
		return d.setData(b, ids)
	case *wire.SetACLRequest:
		return d.setACL(b, ids)
	case *wire.Path:
		if op == wire.DeleteContainer {
			return d.deleteContainer(b.Path)
		}
	case *wire.ReconfigRequest:
		return nil, wire.ReconfigDisabled // as servers have it by default
	}
	return nil, wire.MarshallingError
}

func (d *draft) delete(path string, version int32, ids []wire.ID) (Change, wire.Code) {
	if code := deletable(path); code != wire.OK {
		return nil, code
	}
	dir, _ := parent(path)
	p := d.node(dir)
	if p == nil {
		return nil, wire.NoNode
	}
	if !Permits(p.acl, wire.PermDelete, ids) {
		return nil, wire.NoAuth
	}
	n := d.node(path)
	switch {
	case n == nil:
		return nil, wire.NoNode
	case version != -1 && version != n.version:
		return nil, wire.BadVersion
	case n.children > 0:
		return nil, wire.NotEmpty
	}
	p.children--
	d.put(path, nil)
	return Delete{path}, wire.OK
}

// deleteContainer checks the leader's own request to delete a node of [Tree.Reapable]. It
// checks no more than this, so a node that was written to since is deleted too.
func (d *draft) deleteContainer(path string) (Change, wire.Code) {
	if code := deletable(path); code != wire.OK {
		return nil, code
	}
	n := d.node(path)
	switch {
	case n == nil:
		return nil, wire.NoNode
	case n.children > 0:
		return nil, wire.NotEmpty
	case n.kind == ephemeral:
		return nil, wire.BadVersion
	}
	return Delete{path}, wire.OK
}

func (d *draft) setData(r *wire.SetDataRequest, ids []wire.ID) (Change, wire.Code) {
	n, code := d.existing(r.Path, wire.PermWrite, ids)
	if code != wire.OK {
		return nil, code
	}
	if r.Version != -1 && r.Version != n.version {
		return nil, wire.BadVersion
	}
	n.version++
	return SetData{r.Path, r.Data, n.version}, wire.OK
}

func (d *draft) check(path string, version int32, ids []wire.ID) (Change, wire.Code) {
	n, code := d.existing(path, wire.PermRead, ids)
	if code != wire.OK {
		return nil, code
	}
	if version != -1 && version != n.version {
		return nil, wire.BadVersion
	}
	return Check{path}, wire.OK
}

// existing returns a node that a request names, after a check of the permission.
func (d *draft) existing(path string, perm int32, ids []wire.ID) (*record, wire.Code) {
	if !validPath(path) {
		return nil, wire.BadArguments
	}
	n := d.node(path)
	if n == nil {
		return nil, wire.NoNode
	}
	if !Permits(n.acl, perm, ids) {
		return nil, wire.NoAuth
	}
	return n, wire.OK
}

func (d *draft) setACL(r *wire.SetACLRequest, ids []wire.ID) (Change, wire.Code) {
	if !validPath(r.Path) {
		return nil, wire.BadArguments
	}
	acl, code := settleACL(r.ACL, ids)
	if code != wire.OK {
		return nil, code
	}
	n, code := d.existing(r.Path, wire.PermAdmin, ids)
	if code != wire.OK {
		return nil, code
	}
	if r.Version != -1 && r.Version != n.aversion {
		return nil, wire.BadVersion
	}
	return SetACL{r.Path, acl, n.aversion + 1}, wire.OK
}
