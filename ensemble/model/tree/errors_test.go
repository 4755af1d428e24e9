package tree_test

import (
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// A request that breaks several rules fails with the error of the first, in the order in
// which the real server checks them. Each group of cases begins with a request that
// breaks as many rules as it can, and mends one after the other.
//
// There is /plain; /parent with /parent/child; /guarded and /guarded/child, which only
// ann may use; /ephemeral; and /version, which was written to once.
func TestTheFirstRuleThatARequestBreaksIsItsError(t *testing.T) {
	none := []wire.ACL{}
	withACL := func(path string, flags int32, acl []wire.ACL) *wire.CreateRequest {
		return &wire.CreateRequest{Path: path, Flags: flags, ACL: acl}
	}
	ttlWithACL := func(path string, flags int32, acl []wire.ACL, ttl int64) *wire.CreateTTLRequest {
		return &wire.CreateTTLRequest{CreateRequest: *withACL(path, flags, acl), TTL: ttl}
	}
	for _, c := range []struct {
		name string
		op   wire.Op
		body wire.Record
		want wire.Code
	}{
		{"create: unknown flags", wire.Create, withACL("none", 7, none), wire.BadArguments},
		{"create: negative flags", wire.Create, withACL("none", -1, none), wire.BadArguments},
		{"create: a flag that wants a time to live", wire.Create, withACL("none", wire.FlagPersistentTTL, none), wire.BadArguments},
		{"create: no slash", wire.Create, withACL("none", 0, none), wire.BadArguments},
		{"create: NUL", wire.Create, withACL("/missing/\x00", 0, none), wire.BadArguments},
		{"create: no ACL", wire.Create, withACL("/missing/..", 0, none), wire.InvalidACL},
		{"create: no parent", wire.Create, withACL("/missing/..", 0, world), wire.NoNode},
		{"create: no slash in front", wire.Create, withACL("a/b", 0, world), wire.NoNode},
		{"create: no permission", wire.Create, withACL("/guarded/..", 0, world), wire.NoAuth},
		{"create: no permission, and the node exists", wire.Create, withACL("/guarded/child", 0, world), wire.NoAuth},
		{"create: a path that is not allowed", wire.Create, withACL("/ephemeral/..", 0, world), wire.BadArguments},
		{"create: a slash at the end", wire.Create, withACL("/plain/", 0, world), wire.BadArguments},
		{"create: the node exists", wire.Create, withACL("/parent/child", 0, world), wire.NodeExists},
		{"create: the root", wire.Create, withACL("/", 0, world), wire.NodeExists},
		{"create: an ephemeral parent", wire.Create, withACL("/ephemeral/child", 0, world), wire.NoChildrenForEphemerals},
		{"create: a slash at the end of a sequential one", wire.Create, withACL("/plain/", wire.FlagSequential, world), wire.OK},

		{"create with a time: too short", wire.CreateTTL, ttlWithACL("none", wire.FlagPersistentTTL, none, 0), wire.BadArguments},
		{"create with a time: too long", wire.CreateTTL, ttlWithACL("/t", wire.FlagPersistentTTL, world, 1<<40), wire.BadArguments},
		{"create with a time: the longest", wire.CreateTTL, ttlWithACL("/t", wire.FlagPersistentTTL, world, 1<<40-1), wire.OK},
		{"create with a time: a flag without", wire.CreateTTL, ttlWithACL("/t", wire.FlagPersistent, none, 5), wire.BadArguments},
		{"create with a time: no ACL", wire.CreateTTL, ttlWithACL("/t", wire.FlagPersistentTTL, none, 5), wire.InvalidACL},

		{"delete: no slash", wire.Delete, &wire.PathVersion{Path: "none", Version: 5}, wire.BadArguments},
		{"delete: NUL", wire.Delete, &wire.PathVersion{Path: "/missing/\x00", Version: 5}, wire.BadArguments},
		{"delete: the root", wire.Delete, &wire.PathVersion{Path: "/", Version: 5}, wire.BadArguments},
		{"delete: a node of the server", wire.Delete, &wire.PathVersion{Path: "/zookeeper/config", Version: 5}, wire.BadArguments},
		{"delete: no parent", wire.Delete, &wire.PathVersion{Path: "/missing/child", Version: 5}, wire.NoNode},
		{"delete: no permission, and no node", wire.Delete, &wire.PathVersion{Path: "/guarded/missing", Version: 5}, wire.NoAuth},
		{"delete: no node", wire.Delete, &wire.PathVersion{Path: "/parent/missing", Version: 5}, wire.NoNode},
		{"delete: a slash at the end", wire.Delete, &wire.PathVersion{Path: "/plain/", Version: -1}, wire.NoNode},
		{"delete: another version", wire.Delete, &wire.PathVersion{Path: "/parent", Version: 5}, wire.BadVersion},
		{"delete: children", wire.Delete, &wire.PathVersion{Path: "/parent", Version: 0}, wire.NotEmpty},
		{"delete: permission for the node is not enough", wire.Delete, &wire.PathVersion{Path: "/guarded/child", Version: -1}, wire.NoAuth},

		{"set: a path that is not allowed", wire.SetData, &wire.SetDataRequest{Path: "/missing/", Version: 5}, wire.BadArguments},
		{"set: no node", wire.SetData, &wire.SetDataRequest{Path: "/missing", Version: 5}, wire.NoNode},
		{"set: no permission", wire.SetData, &wire.SetDataRequest{Path: "/guarded", Version: 5}, wire.NoAuth},
		{"set: the configuration", wire.SetData, &wire.SetDataRequest{Path: tree.ConfigPath, Version: -1}, wire.NoAuth},
		{"set: an earlier version", wire.SetData, &wire.SetDataRequest{Path: "/version", Version: 0}, wire.BadVersion},
		{"set: the version", wire.SetData, &wire.SetDataRequest{Path: "/version", Version: 1}, wire.OK},

		{"set ACL: a path that is not allowed", wire.SetACL, &wire.SetACLRequest{Path: "/missing/", ACL: none, Version: 5}, wire.BadArguments},
		{"set ACL: no ACL", wire.SetACL, &wire.SetACLRequest{Path: "/missing", ACL: none, Version: 5}, wire.InvalidACL},
		{"set ACL: no node", wire.SetACL, &wire.SetACLRequest{Path: "/missing", ACL: world, Version: 5}, wire.NoNode},
		{"set ACL: no permission", wire.SetACL, &wire.SetACLRequest{Path: "/guarded", ACL: world, Version: 5}, wire.NoAuth},
		{"set ACL: the version of the data", wire.SetACL, &wire.SetACLRequest{Path: "/version", ACL: world, Version: 1}, wire.BadVersion},
		{"set ACL: the version of the ACL", wire.SetACL, &wire.SetACLRequest{Path: "/version", ACL: world, Version: 0}, wire.OK},

		{"check: a path that is not allowed", wire.Check, &wire.PathVersion{Path: "/missing/", Version: 5}, wire.BadArguments},
		{"check: no node", wire.Check, &wire.PathVersion{Path: "/missing", Version: 5}, wire.NoNode},
		{"check: no permission", wire.Check, &wire.PathVersion{Path: "/guarded", Version: 5}, wire.NoAuth},
		{"check: another version", wire.Check, &wire.PathVersion{Path: "/version", Version: 5}, wire.BadVersion},

		{"reap: a node of the server", wire.DeleteContainer, &wire.Path{Path: "/zookeeper"}, wire.BadArguments},
		{"reap: no node", wire.DeleteContainer, &wire.Path{Path: "/missing"}, wire.NoNode},
		{"reap: children", wire.DeleteContainer, &wire.Path{Path: "/parent"}, wire.NotEmpty},
		{"reap: an ephemeral node", wire.DeleteContainer, &wire.Path{Path: "/ephemeral"}, wire.BadVersion},

		{"reconfig", wire.Reconfig, &wire.ReconfigRequest{}, wire.ReconfigDisabled},
		{"a body that could not be decoded", wire.Create, nil, wire.MarshallingError},
		{"a multi that could not be decoded", wire.Multi, nil, wire.MarshallingError},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, tree.V38)
			s.makeAll("/plain", "/parent", "/parent/child", "/version")
			s.must(wire.Create, owned("/guarded", wire.PermAll, ann), ann)
			s.must(wire.Create, &wire.CreateRequest{Path: "/guarded/child", ACL: world}, ann)
			s.must(wire.Create, create("/ephemeral", wire.FlagEphemeral))
			s.must(wire.SetData, &wire.SetDataRequest{Path: "/version", Version: -1})
			before, zxid := s.tree.Clone(), s.tree.LastZxid()
			o := s.change(c.op, c.body)
			if o.Err != c.want {
				t.Fatalf("error %d, want %d", o.Err, c.want)
			}
			if s.tree.LastZxid() != zxid+1 {
				t.Errorf("the zxid went from %d to %d", zxid, s.tree.LastZxid())
			}
			if c.want == wire.OK {
				return
			}
			if o.Reply != nil || len(o.Events) > 0 {
				t.Errorf("a request that failed has the reply %v and the events %v", o.Reply, o.Events)
			}
			before.Apply(&tree.Txn{Zxid: zxid + 1, Op: wire.ErrorOp, Change: tree.Error{}})
			equal(t, before, s.tree)
		})
	}
}

func TestPathsThatAreNotAllowed(t *testing.T) {
	for path, want := range map[string]wire.Code{
		"/ok": wire.OK, "/.ok": wire.OK, "/ok.": wire.OK, "/...": wire.OK, "/a..b": wire.OK, "/ä ☃": wire.OK,
		"/.": wire.BadArguments, "/..": wire.BadArguments, "//": wire.BadArguments, "//a": wire.BadArguments,
		"/\x01": wire.BadArguments, "/\x7f": wire.BadArguments, "/\u009f": wire.BadArguments, "/\u00a0": wire.OK,
		"/\ue000": wire.BadArguments, "/\uf8ff": wire.BadArguments, "/\uf900": wire.OK, "/\ufff0": wire.BadArguments,
		"/\U0001f600": wire.BadArguments, // two surrogates to Java
		"/\xff":       wire.BadArguments, // no UTF-8
	} {
		if o := start(t, tree.V38).change(wire.Create, create(path, 0)); o.Err != want {
			t.Errorf("create %q: error %d, want %d", path, o.Err, want)
		}
	}
}
