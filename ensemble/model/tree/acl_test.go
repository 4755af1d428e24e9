package tree_test

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

func TestAuthenticate(t *testing.T) {
	// The first is the example of the administrator's guide.
	for auth, want := range map[string]string{
		"super:test": "super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
		"user":       "user:Et6pb+wgWTVmq3VpLJlJWWgzrck=",
		"a:b:c":      "a:cLzgnoJ6mP5qz3w+mwvPE2vDgu0=",
	} {
		if id, ok := tree.Authenticate("digest", []byte(auth), "127.0.0.1"); !ok || id != (wire.ID{Scheme: "digest", ID: want}) {
			t.Errorf("%s is %v, want %s", auth, id, want)
		}
	}
	if id, ok := tree.Authenticate("ip", nil, "10.0.0.1"); !ok || id != (wire.ID{Scheme: "ip", ID: "10.0.0.1"}) {
		t.Errorf("an address is %v", id)
	}
	if id, ok := tree.Authenticate("world", nil, "10.0.0.1"); ok {
		t.Errorf("the scheme world proves %v", id)
	}
}

func TestPermits(t *testing.T) {
	at := func(address string) wire.ID { return wire.ID{Scheme: "ip", ID: address} }
	for _, c := range []struct {
		name  string
		acl   []wire.ACL
		perms int32
		ids   []wire.ID
		want  bool
	}{
		{"anyone", world, wire.PermWrite, nil, true},
		{"anyone, for another permission", []wire.ACL{{Perms: wire.PermRead, ID: world[0].ID}}, wire.PermWrite, nil, false},
		{"one of two permissions", []wire.ACL{{Perms: wire.PermRead, ID: world[0].ID}}, wire.PermRead | wire.PermAdmin, nil, true},
		{"an empty ACL", nil, wire.PermAdmin, nil, true},
		{"ann, for ann", []wire.ACL{{Perms: wire.PermWrite, ID: ann}}, wire.PermWrite, []wire.ID{local, ann}, true},
		{"ann, for bob", []wire.ACL{{Perms: wire.PermWrite, ID: ann}}, wire.PermWrite, []wire.ID{local, bob}, false},
		{"ann or bob, for bob", []wire.ACL{{Perms: wire.PermRead, ID: bob}, {Perms: wire.PermWrite, ID: ann}, {Perms: wire.PermWrite, ID: bob}},
			wire.PermWrite, []wire.ID{bob}, true},
		{"super", []wire.ACL{{ID: ann}}, wire.PermWrite, []wire.ID{{Scheme: "super"}}, true},
		{"an address", []wire.ACL{{Perms: 1, ID: at("10.1.2.3")}}, 1, []wire.ID{at("10.1.2.3")}, true},
		{"another address", []wire.ACL{{Perms: 1, ID: at("10.1.2.3")}}, 1, []wire.ID{at("10.1.2.4")}, false},
		{"a block", []wire.ACL{{Perms: 1, ID: at("10.1.0.0/15")}}, 1, []wire.ID{at("10.0.2.4")}, true},
		{"outside of it", []wire.ACL{{Perms: 1, ID: at("10.1.0.0/15")}}, 1, []wire.ID{at("10.2.2.4")}, false},
		{"every address", []wire.ACL{{Perms: 1, ID: at("10.1.0.0/0")}}, 1, []wire.ID{at("192.168.0.1")}, true},
		{"an address that is none", []wire.ACL{{Perms: 1, ID: at("10.1.0.0/0")}}, 1, []wire.ID{at("::1")}, false},
		{"an address of another scheme", []wire.ACL{{Perms: 1, ID: at("10.1.2.3")}}, 1, []wire.ID{{Scheme: "digest", ID: "10.1.2.3"}}, false},
		{"a scheme that is unknown", []wire.ACL{{Perms: 1, ID: wire.ID{Scheme: "x", ID: "a"}}}, 1, []wire.ID{{Scheme: "x", ID: "a"}}, false},
	} {
		if got := tree.Permits(c.acl, c.perms, c.ids); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestTheACLThatANodeGets(t *testing.T) {
	id := func(scheme, id string) wire.ACL { return wire.ACL{Perms: 3, ID: wire.ID{Scheme: scheme, ID: id}} }
	of := func(who wire.ID) wire.ACL { return wire.ACL{Perms: 3, ID: who} }
	for _, c := range []struct {
		name  string
		asked []wire.ACL
		ids   []wire.ID
		want  []wire.ACL // nil: InvalidACL
	}{
		{"anyone", []wire.ACL{id("world", "anyone")}, nil, []wire.ACL{id("world", "anyone")}},
		{"the world, but not anyone", []wire.ACL{id("world", "me")}, nil, nil},
		{"the same twice", []wire.ACL{of(ann), of(bob), of(ann)}, nil, []wire.ACL{of(ann), of(bob)}},
		{"auth", []wire.ACL{id("auth", "")}, []wire.ID{ann, bob}, []wire.ACL{of(ann), of(bob)}},
		{"auth, and who it is", []wire.ACL{of(ann), id("auth", "whatever")}, []wire.ID{ann}, []wire.ACL{of(ann), of(ann)}},
		{"auth without an identity but the address", []wire.ACL{id("auth", "")}, nil, nil},
		{"auth of super", []wire.ACL{id("auth", "")}, []wire.ID{{Scheme: "super"}}, nil},
		{"an unknown scheme", []wire.ACL{of(ann), id("sasl", "ann")}, nil, nil},
		{"digest without a hash", []wire.ACL{id("digest", "ann:")}, nil, nil},
		{"digest without a user", []wire.ACL{id("digest", ":hash")}, nil, []wire.ACL{id("digest", ":hash")}},
		{"digest with a colon behind", []wire.ACL{id("digest", "ann:hash:")}, nil, []wire.ACL{id("digest", "ann:hash:")}},
		{"digest of three parts", []wire.ACL{id("digest", "ann:hash:more")}, nil, nil},
		{"a block of addresses", []wire.ACL{id("ip", "10.0.0.0/8")}, nil, []wire.ACL{id("ip", "10.0.0.0/8")}},
		{"too large a block", []wire.ACL{id("ip", "10.0.0.0/33")}, nil, nil},
		{"an address of three parts", []wire.ACL{id("ip", "10.0.0")}, nil, nil},
		{"an address with a part of 256", []wire.ACL{id("ip", "10.0.0.256")}, nil, nil},
		{"a name", []wire.ACL{id("ip", "localhost")}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, tree.V38)
			s.makeAll("/a")
			made := s.change(wire.Create, &wire.CreateRequest{Path: "/b", ACL: c.asked}, c.ids...)
			set := s.change(wire.SetACL, &wire.SetACLRequest{Path: "/a", ACL: c.asked, Version: -1}, c.ids...)
			if c.want == nil {
				if made.Err != wire.InvalidACL || set.Err != wire.InvalidACL {
					t.Errorf("errors %d and %d", made.Err, set.Err)
				}
				return
			}
			for _, path := range []string{"/a", "/b"} {
				r, code := s.read(wire.GetACL, &wire.Path{Path: path}, wire.ID{Scheme: "super"})
				if code != wire.OK || !reflect.DeepEqual(r.(*wire.ACLReply).ACL, c.want) {
					t.Errorf("%s has %+v, error %d", path, r, code)
				}
			}
		})
	}
}

// Permissions of a node are for its data, its ACL and the making of children. To delete a
// node takes the permission of its parent.
func TestWhatEachPermissionIsFor(t *testing.T) {
	for _, c := range []struct {
		name string
		perm int32
		op   wire.Op
		body wire.Record
	}{
		{"create", wire.PermCreate, wire.Create, create("/a/new", 0)},
		{"delete", wire.PermDelete, wire.Delete, &wire.PathVersion{Path: "/a/b", Version: -1}},
		{"set", wire.PermWrite, wire.SetData, &wire.SetDataRequest{Path: "/a", Version: -1}},
		{"set ACL", wire.PermAdmin, wire.SetACL, &wire.SetACLRequest{Path: "/a", ACL: world, Version: -1}},
		{"check", wire.PermRead, wire.Check, &wire.PathVersion{Path: "/a", Version: -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, tree.V38)
			s.must(wire.Create, owned("/a", wire.PermAll, ann), ann)
			s.must(wire.Create, owned("/a/b", wire.PermRead, ann), ann)
			x := tree.Prepare(s.tree, tree.Request{Op: wire.SetACL, Auth: []wire.ID{ann}, Body: &wire.SetACLRequest{Path: "/a",
				ACL: []wire.ACL{{Perms: c.perm, ID: bob}, {Perms: wire.PermAll &^ c.perm, ID: ann}}, Version: -1}}, 9, 9)
			s.tree.Apply(&x)
			if o := s.change(c.op, c.body, ann); o.Err != wire.NoAuth {
				t.Errorf("with all other permissions: error %d", o.Err)
			}
			if o := s.change(c.op, c.body, bob); o.Err != wire.OK {
				t.Errorf("with the permission: error %d", o.Err)
			}
		})
	}
}
