package tree_test

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

func part(op wire.Op, body wire.Record) wire.Part { return wire.Part{Op: op, Body: body} }

func deletion(path string) wire.Part {
	return part(wire.Delete, &wire.PathVersion{Path: path, Version: -1})
}

func TestPartsOfAMultiSeeThoseBefore(t *testing.T) {
	s := start(t, tree.V38)
	o := s.must(wire.Multi, multi(
		part(wire.Create, create("/a", 0)),
		part(wire.Create, create("/a/b", wire.FlagSequential)),
		part(wire.Create, create("/a/b", wire.FlagSequential)),
		part(wire.SetData, &wire.SetDataRequest{Path: "/a", Version: 0}),
		part(wire.Check, &wire.PathVersion{Path: "/a", Version: 1}),
		deletion("/a/b0000000000"),
	))
	a := s.stat("/a")
	if want := (wire.Stat{Czxid: 1, Mzxid: 1, Pzxid: 1, Ctime: 1001, Mtime: 1001,
		Version: 1, Cversion: 3, NumChildren: 1}); a != want {
		t.Errorf("/a has %+v", a)
	}
	a.Cversion, a.NumChildren = 2, 2 // when it was set
	want := []wire.Result{
		{Op: wire.Create, Body: &wire.Path{Path: "/a"}},
		{Op: wire.Create, Body: &wire.Path{Path: "/a/b0000000000"}},
		{Op: wire.Create, Body: &wire.Path{Path: "/a/b0000000001"}},
		{Op: wire.SetData, Body: &a},
		{Op: wire.Check},
		{Op: wire.Delete},
	}
	if got := o.Reply.(*wire.MultiReply).Results; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestAMultiWithAPartThatFailsDoesNothing(t *testing.T) {
	s := start(t, tree.V38)
	s.makeAll("/a", "/a/b")
	before := s.tree.Clone()
	o := s.change(wire.Multi, multi(
		part(wire.Create, create("/c", 0)),
		part(wire.SetData, &wire.SetDataRequest{Path: "/c", Version: 0}),
		deletion("/a"),
		part(wire.Create, create("/d", 0)),
		part(wire.Check, &wire.PathVersion{Path: "/missing"}),
	))
	// The reply's header has no error: the results do.
	if o.Err != wire.OK || len(o.Events) > 0 {
		t.Errorf("error %d, events %v", o.Err, o.Events)
	}
	for i, want := range []wire.Code{wire.OK, wire.OK, wire.NotEmpty, wire.RuntimeInconsistency, wire.RuntimeInconsistency} {
		got := o.Reply.(*wire.MultiReply).Results[i]
		if !reflect.DeepEqual(got, wire.Result{Op: wire.ErrorOp, Err: want, Body: &wire.ErrorReply{Err: want}}) {
			t.Errorf("the %d. result is %+v, want error %d", i+1, got, want)
		}
	}
	before.Apply(&tree.Txn{Zxid: 3, Op: wire.ErrorOp, Change: tree.Error{}})
	equal(t, before, s.tree)
}

func TestRulesHoldWithinAMulti(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []wire.Part
		want  wire.Code // of the last
	}{
		{"a node twice", []wire.Part{part(wire.Create, create("/a", 0)), part(wire.Create, create("/a", 0))}, wire.NodeExists},
		{"a child of an ephemeral node", []wire.Part{part(wire.Create, create("/a", 1)), part(wire.Create, create("/a/b", 0))}, wire.NoChildrenForEphemerals},
		{"the parent of a new child", []wire.Part{part(wire.Create, create("/p/c", 0)), deletion("/p")}, wire.NotEmpty},
		{"the parent of a child that was deleted", []wire.Part{part(wire.Create, create("/p/c", 0)), deletion("/p/c"), deletion("/p")}, wire.OK},
		{"a node that was deleted", []wire.Part{deletion("/p"), deletion("/p")}, wire.NoNode},
		{"a child of a node that was deleted", []wire.Part{deletion("/p"), part(wire.Create, create("/p/c", 0))}, wire.NoNode},
		{"a version that was set", []wire.Part{part(wire.SetData, &wire.SetDataRequest{Path: "/p", Version: 0}),
			part(wire.SetData, &wire.SetDataRequest{Path: "/p", Version: 0})}, wire.BadVersion},
		{"a node that began anew", []wire.Part{part(wire.SetData, &wire.SetDataRequest{Path: "/p", Version: 0}), deletion("/p"),
			part(wire.Create, create("/p", 0)), part(wire.Check, &wire.PathVersion{Path: "/p", Version: 0})}, wire.OK},
		{"the ACL of a new node", []wire.Part{part(wire.Create, owned("/a", wire.PermRead, ann)),
			part(wire.SetData, &wire.SetDataRequest{Path: "/a", Version: -1})}, wire.NoAuth},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, tree.V38)
			s.makeAll("/p")
			results := s.must(wire.Multi, multi(c.parts...)).Reply.(*wire.MultiReply).Results
			if got := results[len(results)-1].Err; got != c.want {
				t.Errorf("error %d, want %d", got, c.want)
			}
		})
	}
}

func TestCreatesInAMulti(t *testing.T) {
	path, stat := &wire.Path{}, &wire.CreateReply{}
	for _, c := range []struct {
		name    string
		release tree.Release
		part    wire.Part
		err     wire.Code   // of the request
		want    wire.Record // the type of the result
		kind    int         // reapable nodes that it makes
	}{
		{"Create", tree.V38, part(wire.Create, create("/a", 0)), wire.OK, path, 0},
		{"Create2 in 3.8", tree.V38, part(wire.Create2, create("/a", 0)), wire.OK, path, 0},
		{"Create2 in 3.9", tree.V39, part(wire.Create2, create("/a", 0)), wire.OK, stat, 0},
		{"the flag of a container", tree.V38, part(wire.Create, create("/a", wire.FlagContainer)), wire.OK, stat, 1},
		{"CreateContainer without it", tree.V38, part(wire.CreateContainer, create("/a", 0)), wire.OK, path, 0},
		{"CreateContainer without it, in 3.9", tree.V39, part(wire.CreateContainer, create("/a", 0)), wire.OK, stat, 1},
		{"with a time", tree.V38, part(wire.CreateTTL, createTTL("/a", wire.FlagPersistentTTL, 5)), wire.OK, stat, 1},
		{"with a time, and no flag for it", tree.V38, part(wire.CreateTTL, createTTL("/a", 0, 5)), wire.OK, path, 0},
		{"the flag of a time that is not there", tree.V38, part(wire.Create, create("/a", wire.FlagPersistentTTL)), wire.MarshallingError, nil, 0},
		{"unknown flags in 3.8", tree.V38, part(wire.Create, create("/a", 9)), wire.OK, &wire.ErrorReply{}, 0},
		{"unknown flags in 3.9", tree.V39, part(wire.Create, create("/a", 9)), wire.MarshallingError, nil, 0},
		{"no list of ACLs in 3.8", tree.V38, part(wire.Create, &wire.CreateRequest{Path: "/a"}), wire.OK, &wire.ErrorReply{}, 0},
		{"no list of ACLs in 3.9", tree.V39, part(wire.Create, &wire.CreateRequest{Path: "/a"}), wire.MarshallingError, nil, 0},
		{"an empty list of ACLs in 3.9", tree.V39, part(wire.Create, &wire.CreateRequest{Path: "/a", ACL: []wire.ACL{}}), wire.OK, &wire.ErrorReply{}, 0},
		{"a read", tree.V38, part(wire.GetData, &wire.PathWatch{Path: "/a"}), wire.MarshallingError, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.release)
			o := s.change(wire.Multi, multi(c.part))
			if o.Err != c.err {
				t.Fatalf("error %d, want %d", o.Err, c.err)
			}
			if c.err == wire.OK {
				r := o.Reply.(*wire.MultiReply).Results[0]
				if reflect.TypeOf(r.Body) != reflect.TypeOf(c.want) {
					t.Errorf("the result is %+v", r)
				}
				if r.Op == wire.Create2 != (reflect.TypeOf(r.Body) == reflect.TypeOf(stat)) {
					t.Errorf("the operation of %T is %d", r.Body, r.Op)
				}
			}
			if got := s.tree.Reapable(1e6, 1); len(got) != c.kind {
				t.Errorf("reapable: %q", got)
			}
		})
	}
}

// 3.9 reads a multi as a whole, and checks the flags of all parts first; 3.8 checks them
// part by part.
func TestAMultiWhoseSecondPartLacksItsTime(t *testing.T) {
	for release, want := range map[tree.Release]wire.Code{tree.V38: wire.OK, tree.V39: wire.MarshallingError} {
		o := start(t, release).change(wire.Multi, multi(deletion("/missing"),
			part(wire.Create, create("/a", wire.FlagPersistentTTL))))
		if o.Err != want {
			t.Errorf("release %d: error %d, want %d", release, o.Err, want)
		}
	}
}
