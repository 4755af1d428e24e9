package tree

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Read answers a request that changes no data and sets no watch. The reply is nil if the
// code is not OK.
func (t *Tree) Read(r Request) (wire.Record, wire.Code) { return reading{t}.read(r) }

// reading implements reads of a tree.
type reading struct{ *Tree }

func (t reading) read(r Request) (wire.Record, wire.Code) {
	switch b := r.Body.(type) {
	case *wire.PathWatch:
		return t.readNode(r.Op, b.Path, r.Auth)
	case *wire.Path:
		switch r.Op {
		case wire.GetACL:
			return t.readACL(b.Path, r.Auth)
		case wire.GetAllChildrenNumber:
			return t.readNumber(b.Path, r.Auth)
		case wire.GetEphemerals:
			return t.readEphemerals(b.Path, r.Session), wire.OK
		}
	case *wire.MultiRequest:
		if r.Op == wire.MultiRead {
			return t.readMulti(b.Parts, r.Auth)
		}
	case nil:
		if r.Op == wire.WhoAmI {
			return whoAmI(r.Auth), wire.OK
		}
	}
	return nil, wire.MarshallingError
}

func (t reading) readNode(op wire.Op, path string, ids []wire.ID) (wire.Record, wire.Code) {
	if op == wire.Exists && strings.Contains(path, "\x00") {
		return nil, wire.BadArguments
	}
	n, code := t.readable(path, wire.PermRead, ids)
	if op == wire.Exists && t.release == V38 && code == wire.NoAuth {
		code = wire.OK
	}
	if code != wire.OK {
		return nil, code
	}
	stat := n.stat()
	switch op {
	case wire.Exists:
		return &stat, wire.OK
	case wire.GetData:
		return &wire.DataReply{Data: n.data, Stat: stat}, wire.OK
	case wire.GetChildren:
		return &wire.ChildrenReply{Children: names(n)}, wire.OK
	case wire.GetChildren2:
		return &wire.Children2Reply{Children: names(n), Stat: stat}, wire.OK
	}
	return nil, wire.MarshallingError
}

// names returns a node's children, as a list that is empty rather than nil.
func names(n *node) []string { return append([]string{}, n.children...) }

// readable returns a node, or an error if the identities have none of the permissions.
func (t reading) readable(path string, perms int32, ids []wire.ID) (*node, wire.Code) {
	n := t.node(path)
	switch {
	case n == nil:
		return nil, wire.NoNode
	case !Permits(n.acl, perms, ids):
		return n, wire.NoAuth
	}
	return n, wire.OK
}

func (t reading) readACL(path string, ids []wire.ID) (wire.Record, wire.Code) {
	n, code := t.readable(path, wire.PermRead|wire.PermAdmin, ids)
	if code != wire.OK {
		return nil, code
	}
	acl := n.acl
	if !Permits(acl, wire.PermAdmin, ids) {
		acl = masked(acl)
	}
	return &wire.ACLReply{ACL: acl, Stat: n.stat()}, wire.OK
}

func (t reading) readNumber(path string, ids []wire.ID) (wire.Record, wire.Code) {
	if _, code := t.readable(path, wire.PermRead, ids); code != wire.OK {
		return nil, code
	}
	number := int32(0)
	for p := range t.nodes {
		if p != path && strings.HasPrefix(p, strings.TrimSuffix(path, "/")+"/") {
			number++
		}
	}
	return &wire.NumberReply{Number: number}, wire.OK
}

func (t reading) readEphemerals(prefix string, session int64) wire.Record {
	paths := append([]string{}, t.ephemerals[session]...)
	if p := strings.TrimFunc(prefix, func(r rune) bool { return r <= ' ' }); p != "" && p != "/" {
		paths = slices.DeleteFunc(paths, func(path string) bool { return !strings.HasPrefix(path, prefix) })
	}
	return &wire.ChildrenReply{Children: paths}
}

// readMulti answers each part, with its error if it fails. The parts set no watches.
func (t reading) readMulti(parts []wire.Part, ids []wire.ID) (wire.Record, wire.Code) {
	reply := &wire.MultiReply{}
	switch reads := countReads(parts); {
	case reads == len(parts):
	case reads == 0:
		return reply, wire.MarshallingError
	default: // a list of both kinds cannot be decoded
		return nil, wire.MarshallingError
	}
	for _, p := range parts {
		b := p.Body.(*wire.PathWatch)
		body, code := t.readNode(p.Op, b.Path, ids)
		if code != wire.OK {
			p.Op, body = wire.ErrorOp, &wire.ErrorReply{Err: code}
		}
		reply.Results = append(reply.Results, wire.Result{Op: p.Op, Err: code, Body: body})
	}
	return reply, wire.OK
}

func countReads(parts []wire.Part) (n int) {
	for _, p := range parts {
		if _, is := p.Body.(*wire.PathWatch); is {
			n++
		}
	}
	return n
}

// whoAmI lists the users, without their secrets. A scheme that the server does not know,
// such as super, has none.
func whoAmI(ids []wire.ID) wire.Record {
	reply := &wire.WhoAmIReply{IDs: []wire.ID{}}
	for _, id := range ids {
		switch id.Scheme {
		case "digest":
			id.ID, _, _ = strings.Cut(id.ID, ":")
		case "ip":
		default:
			id.ID = ""
		}
		reply.IDs = append(reply.IDs, id)
	}
	return reply
}
