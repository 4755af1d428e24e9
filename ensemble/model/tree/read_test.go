package tree_test

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

func TestReads(t *testing.T) {
	s := start(t, tree.V38)
	s.must(wire.Create, &wire.CreateRequest{Path: "/a", Data: []byte("data"), ACL: world})
	s.makeAll("/a/z", "/a/b", "/a/b/c", "/aa")
	s.must(wire.Create, create("/e", wire.FlagEphemeral))
	s.must(wire.Create, create("/a/e", wire.FlagEphemeral))
	s.changeBy(8, wire.Create, create("/other", wire.FlagEphemeral))
	a, c := s.stat("/a"), s.stat("/a/b/c")
	root := s.stat("/")
	for _, c := range []struct {
		name string
		op   wire.Op
		body wire.Record
		want wire.Record
		code wire.Code
	}{
		{"exists", wire.Exists, &wire.PathWatch{Path: "/a"}, &a, wire.OK},
		{"exists, and does not", wire.Exists, &wire.PathWatch{Path: "/b"}, nil, wire.NoNode},
		{"exists, with a NUL", wire.Exists, &wire.PathWatch{Path: "/b\x00"}, nil, wire.BadArguments},
		{"the root by its other name", wire.Exists, &wire.PathWatch{Path: ""}, &root, wire.OK},
		{"a slash at the end", wire.Exists, &wire.PathWatch{Path: "/a/"}, nil, wire.NoNode},
		{"data", wire.GetData, &wire.PathWatch{Path: "/a"}, &wire.DataReply{Data: []byte("data"), Stat: a}, wire.OK},
		{"no data", wire.GetData, &wire.PathWatch{Path: "/a/b/c"}, &wire.DataReply{Stat: c}, wire.OK},
		{"data with a NUL in the path", wire.GetData, &wire.PathWatch{Path: "/b\x00"}, nil, wire.NoNode},
		{"children", wire.GetChildren, &wire.PathWatch{Path: "/a"}, &wire.ChildrenReply{Children: []string{"b", "e", "z"}}, wire.OK},
		{"no children", wire.GetChildren, &wire.PathWatch{Path: "/e"}, &wire.ChildrenReply{Children: []string{}}, wire.OK},
		{"children of nothing", wire.GetChildren, &wire.PathWatch{Path: "/b"}, nil, wire.NoNode},
		{"children and stat", wire.GetChildren2, &wire.PathWatch{Path: "/a"}, &wire.Children2Reply{Children: []string{"b", "e", "z"}, Stat: a}, wire.OK},
		{"all below", wire.GetAllChildrenNumber, &wire.Path{Path: "/a"}, &wire.NumberReply{Number: 4}, wire.OK},
		{"all below the root", wire.GetAllChildrenNumber, &wire.Path{Path: "/"}, &wire.NumberReply{Number: 11}, wire.OK},
		{"all below nothing", wire.GetAllChildrenNumber, &wire.Path{Path: "/b"}, nil, wire.NoNode},
		{"own ephemeral nodes", wire.GetEphemerals, &wire.Path{Path: " /\x01"}, &wire.ChildrenReply{Children: []string{"/a/e", "/e"}}, wire.OK},
		{"those that begin with a prefix", wire.GetEphemerals, &wire.Path{Path: "/a"}, &wire.ChildrenReply{Children: []string{"/a/e"}}, wire.OK},
		{"those below nothing", wire.GetEphemerals, &wire.Path{Path: "/b"}, &wire.ChildrenReply{Children: []string{}}, wire.OK},
		{"several reads", wire.MultiRead, multi(
			part(wire.GetData, &wire.PathWatch{Path: "/a"}),
			part(wire.GetData, &wire.PathWatch{Path: "/b"}),
			part(wire.GetChildren, &wire.PathWatch{Path: "/a"}),
		), &wire.MultiReply{Results: []wire.Result{
			{Op: wire.GetData, Body: &wire.DataReply{Data: []byte("data"), Stat: a}},
			{Op: wire.ErrorOp, Err: wire.NoNode, Body: &wire.ErrorReply{Err: wire.NoNode}},
			{Op: wire.GetChildren, Body: &wire.ChildrenReply{Children: []string{"b", "e", "z"}}},
		}}, wire.OK},
		{"a change among reads", wire.MultiRead, multi(part(wire.GetData, &wire.PathWatch{Path: "/a"}), deletion("/a")), nil, wire.MarshallingError},
		{"a change as if it were a read", wire.MultiRead, multi(deletion("/a")), &wire.MultiReply{}, wire.MarshallingError},
		{"a body that could not be decoded", wire.GetData, nil, nil, wire.MarshallingError},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, code := s.read(c.op, c.body)
			if code != c.code || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, error %d", got, code)
			}
		})
	}
}

func TestReadsTakePermission(t *testing.T) {
	for _, c := range []struct {
		name    string
		release tree.Release
		perm    int32 // of ann
		op      wire.Op
		body    wire.Record
		want    wire.Code
	}{
		{"exists in 3.8", tree.V38, 0, wire.Exists, &wire.PathWatch{Path: "/a"}, wire.OK},
		{"exists in 3.9", tree.V39, wire.PermAll &^ wire.PermRead, wire.Exists, &wire.PathWatch{Path: "/a"}, wire.NoAuth},
		{"exists in 3.9, with it", tree.V39, wire.PermRead, wire.Exists, &wire.PathWatch{Path: "/a"}, wire.OK},
		{"data", tree.V38, wire.PermAll &^ wire.PermRead, wire.GetData, &wire.PathWatch{Path: "/a"}, wire.NoAuth},
		{"data, with it", tree.V38, wire.PermRead, wire.GetData, &wire.PathWatch{Path: "/a"}, wire.OK},
		{"children", tree.V38, wire.PermAll &^ wire.PermRead, wire.GetChildren, &wire.PathWatch{Path: "/a"}, wire.NoAuth},
		{"children and stat", tree.V38, wire.PermAll &^ wire.PermRead, wire.GetChildren2, &wire.PathWatch{Path: "/a"}, wire.NoAuth},
		{"their number", tree.V38, wire.PermAll &^ wire.PermRead, wire.GetAllChildrenNumber, &wire.Path{Path: "/a"}, wire.NoAuth},
		{"ACL", tree.V38, wire.PermAll &^ wire.PermRead &^ wire.PermAdmin, wire.GetACL, &wire.Path{Path: "/a"}, wire.NoAuth},
		{"ACL, with that to read", tree.V38, wire.PermRead, wire.GetACL, &wire.Path{Path: "/a"}, wire.OK},
		{"ACL, with that to set it", tree.V38, wire.PermAdmin, wire.GetACL, &wire.Path{Path: "/a"}, wire.OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.release)
			s.must(wire.Create, owned("/a", c.perm, ann), ann)
			if r, code := s.read(c.op, c.body, ann); code != c.want || (r == nil) != (code != wire.OK) {
				t.Errorf("%+v, error %d, want %d", r, code, c.want)
			}
		})
	}
}

// A client that may read an ACL but not set it sees the users and not the hashes.
func TestHashesAreForThoseWhoMaySetTheACL(t *testing.T) {
	s := start(t, tree.V38)
	acl := []wire.ACL{{Perms: wire.PermAll, ID: ann}, {Perms: wire.PermRead, ID: bob},
		{Perms: wire.PermWrite, ID: wire.ID{Scheme: "ip", ID: "10.0.0.0/8"}}}
	s.must(wire.Create, &wire.CreateRequest{Path: "/a", ACL: acl})
	masked := []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "digest", ID: "ann:x"}},
		{Perms: wire.PermRead, ID: wire.ID{Scheme: "digest", ID: "bob:x"}}, acl[2]}
	for _, c := range []struct {
		who  wire.ID
		want []wire.ACL
	}{{bob, masked}, {ann, acl}} {
		r, code := s.read(wire.GetACL, &wire.Path{Path: "/a"}, c.who)
		if code != wire.OK || !reflect.DeepEqual(r.(*wire.ACLReply).ACL, c.want) {
			t.Errorf("%s sees %+v, error %d", c.who.ID, r, code)
		}
	}
}

func TestWhoAmI(t *testing.T) {
	s := start(t, tree.V38)
	got, code := s.read(wire.WhoAmI, nil, ann, wire.ID{Scheme: "super"})
	want := &wire.WhoAmIReply{IDs: []wire.ID{local, {Scheme: "digest", ID: "ann"}, {Scheme: "super"}}}
	if code != wire.OK || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, error %d", got, code)
	}
}
