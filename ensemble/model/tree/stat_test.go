package tree_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

func TestATreeBeginsWithTheServersOwnNodes(t *testing.T) {
	s := start(t, tree.V38)
	config := s.stat(tree.ConfigPath)
	for _, c := range []struct {
		path     string
		children []string
		stat     wire.Stat
		acl      int32
	}{
		{"/", []string{"zookeeper"}, wire.Stat{Cversion: -1, NumChildren: 1}, wire.PermAll},
		{"/zookeeper", []string{"config", "quota"}, wire.Stat{Cversion: -2, NumChildren: 2}, wire.PermAll},
		{"/zookeeper/quota", []string{}, wire.Stat{}, wire.PermAll},
		{"/zookeeper/config", []string{}, wire.Stat{Aversion: -1}, wire.PermRead},
	} {
		r, _ := s.read(wire.GetChildren2, &wire.PathWatch{Path: c.path})
		if want := (&wire.Children2Reply{Children: c.children, Stat: c.stat}); !reflect.DeepEqual(r, want) {
			t.Errorf("%s: %+v, want %+v", c.path, r, want)
		}
		r, _ = s.read(wire.GetACL, &wire.Path{Path: c.path})
		if acl := r.(*wire.ACLReply).ACL; len(acl) != 1 || acl[0].Perms != c.acl || acl[0].ID.Scheme != "world" {
			t.Errorf("%s: %+v", c.path, acl)
		}
	}
	s.tree.SetConfig([]byte("server.1=…"), 9, 500)
	config.Mzxid, config.Mtime, config.Version, config.DataLength = 9, 500, -1, 12
	if got := s.stat(tree.ConfigPath); got != config || s.tree.LastZxid() != 0 {
		t.Errorf("with a configuration: %+v, zxid %d", got, s.tree.LastZxid())
	}
}

// The stat of a node and of its parent after each kind of change. The clock is at 1000
// plus the zxid.
func TestStatsFollowTheChanges(t *testing.T) {
	s := start(t, tree.V38)
	want := func(what, path string, want wire.Stat) {
		t.Helper()
		if got := s.stat(path); got != want {
			t.Errorf("%s: %s has %+v, want %+v", what, path, got, want)
		}
	}
	s.must(wire.Create, &wire.CreateRequest{Path: "/a", Data: []byte("1234"), ACL: world})
	a := wire.Stat{Czxid: 1, Mzxid: 1, Pzxid: 1, Ctime: 1001, Mtime: 1001, DataLength: 4}
	want("created", "/a", a)

	s.makeAll("/a/b")
	a.Cversion, a.NumChildren, a.Pzxid = 1, 1, 2
	want("a child was created", "/a", a)

	o := s.must(wire.SetData, &wire.SetDataRequest{Path: "/a", Data: []byte("1"), Version: 0})
	a.Mzxid, a.Mtime, a.Version, a.DataLength = 3, 1003, 1, 1
	want("set", "/a", a)
	if got := *o.Reply.(*wire.Stat); got != a {
		t.Errorf("the reply to a set has %+v", got)
	}

	o = s.must(wire.SetACL, &wire.SetACLRequest{Path: "/a", ACL: world, Version: -1})
	a.Aversion = 1
	want("the ACL was set", "/a", a)
	if got := *o.Reply.(*wire.Stat); got != a || len(o.Events) > 0 {
		t.Errorf("the reply to a set ACL has %+v, and watches report %v", got, o.Events)
	}

	s.must(wire.SetData, &wire.SetDataRequest{Path: "/a/b", Version: -1})
	want("a child was set", "/a", a)

	s.must(wire.Delete, &wire.PathVersion{Path: "/a/b", Version: 1})
	a.Cversion, a.NumChildren, a.Pzxid = 2, 0, 6
	want("the child was deleted", "/a", a)
	if o.Err != wire.OK || s.tree.LastZxid() != 6 {
		t.Errorf("the last zxid is %d", s.tree.LastZxid())
	}
}

func events(o tree.Outcome) []tree.Event {
	for i := range o.Events {
		o.Events[i].ACL = nil
	}
	return o.Events
}

func TestWhatWatchesReport(t *testing.T) {
	s := start(t, tree.V38)
	want := func(o tree.Outcome, want ...tree.Event) {
		t.Helper()
		if got := events(o); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	want(s.must(wire.Create, create("/a", 0)), tree.Event{Type: wire.NodeCreated, Path: "/a", Zxid: 1},
		tree.Event{Type: wire.NodeChildrenChanged, Path: "/", Zxid: 1})
	want(s.must(wire.Create, create("/a/b", 0)), tree.Event{Type: wire.NodeCreated, Path: "/a/b", Zxid: 2},
		tree.Event{Type: wire.NodeChildrenChanged, Path: "/a", Zxid: 2})
	want(s.must(wire.SetData, &wire.SetDataRequest{Path: "/a", Version: -1}),
		tree.Event{Type: wire.NodeDataChanged, Path: "/a", Zxid: 3})
	want(s.must(wire.Delete, &wire.PathVersion{Path: "/a/b", Version: -1}),
		tree.Event{Type: wire.NodeDeleted, Path: "/a/b", Zxid: 4},
		tree.Event{Type: wire.NodeChildrenChanged, Path: "/a", Zxid: 4})
	want(s.must(wire.Multi, multi(
		wire.Part{Op: wire.SetData, Body: &wire.SetDataRequest{Path: "/a", Version: -1}},
		wire.Part{Op: wire.Check, Body: &wire.PathVersion{Path: "/a", Version: -1}},
		wire.Part{Op: wire.Delete, Body: &wire.PathVersion{Path: "/a", Version: -1}})),
		tree.Event{Type: wire.NodeDataChanged, Path: "/a", Zxid: 5},
		tree.Event{Type: wire.NodeDeleted, Path: "/a", Zxid: 5},
		tree.Event{Type: wire.NodeChildrenChanged, Path: "/", Zxid: 5})
	want(s.change(wire.Delete, &wire.PathVersion{Path: "/a", Version: -1}))
}

// A watcher is notified of an event if it may read the node: of a new node, by that
// node's own ACL.
func TestEventsHaveTheACLOfTheirNode(t *testing.T) {
	s := start(t, tree.V39)
	s.must(wire.Create, owned("/a", wire.PermAll, ann), ann)
	for _, o := range []tree.Outcome{
		s.must(wire.Create, owned("/a/b", wire.PermAll, bob), ann),
		s.must(wire.Delete, &wire.PathVersion{Path: "/a/b", Version: -1}, ann),
	} {
		if node, parent := o.Events[0].ACL, o.Events[1].ACL; node[0].ID != bob || parent[0].ID != ann {
			t.Errorf("%+v and %+v", node, parent)
		}
	}
	if o := s.must(wire.SetData, &wire.SetDataRequest{Path: "/a", Version: -1}, ann); o.Events[0].ACL[0].ID != ann {
		t.Errorf("%+v", o.Events)
	}
}

func TestTheEndOfASessionDeletesItsNodes(t *testing.T) {
	s := start(t, tree.V38)
	s.makeAll("/p")
	s.must(wire.CreateSession, nil)
	s.changeBy(8, wire.CreateSession, nil)
	for _, path := range []string{"/p/c", "/b", "/p/a"} {
		s.must(wire.Create, create(path, wire.FlagEphemeral))
	}
	s.changeBy(8, wire.Create, create("/p/other", wire.FlagEphemeral))
	s.must(wire.Delete, &wire.PathVersion{Path: "/p/c", Version: -1})
	if got := s.tree.Sessions(); !slices.Equal(got, []tree.Session{{ID: 7, Timeout: 5000}, {ID: 8, Timeout: 5000}}) {
		t.Errorf("sessions: %v", got)
	}
	if got := s.tree.Ephemerals(7); !slices.Equal(got, []string{"/b", "/p/a"}) {
		t.Errorf("ephemeral nodes: %q", got)
	}
	zxid := s.tree.LastZxid() + 1
	got := events(s.must(wire.CloseSession, nil))
	want := []tree.Event{
		{Type: wire.NodeDeleted, Path: "/b", Zxid: zxid}, {Type: wire.NodeChildrenChanged, Path: "/", Zxid: zxid},
		{Type: wire.NodeDeleted, Path: "/p/a", Zxid: zxid}, {Type: wire.NodeChildrenChanged, Path: "/p", Zxid: zxid},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if _, ok := s.tree.Session(7); ok {
		t.Error("the session lives")
	}
	if other, ok := s.tree.Session(8); !ok || other.Timeout != 5000 || s.stat("/p/other").EphemeralOwner != 8 {
		t.Error("the other session ended too")
	}
	if s.stat("/p").Pzxid != zxid {
		t.Errorf("the parent has %+v", s.stat("/p"))
	}
}

// A server whose log was cut gets changes that do not fit its tree, and returns their
// errors.
func TestChangesOfAnotherTree(t *testing.T) {
	s := start(t, tree.V38)
	s.makeAll("/a")
	for _, c := range []struct {
		name   string
		change tree.Change
		want   wire.Code
	}{
		{"a node that exists", tree.Create{Path: "/a", ParentCversion: 2}, wire.NodeExists},
		{"no parent", tree.Create{Path: "/b/c", ParentCversion: 1}, wire.NoNode},
		{"nothing to delete", tree.Delete{Path: "/b"}, wire.NoNode},
		{"nothing to set", tree.SetData{Path: "/b"}, wire.NoNode},
		{"nothing to protect", tree.SetACL{Path: "/b"}, wire.NoNode},
	} {
		before := dump(s.tree, "/")
		o := s.tree.Apply(&tree.Txn{Zxid: s.tree.LastZxid() + 1, Op: wire.Create, Change: c.change})
		if o.Err != c.want || len(o.Events) > 0 || dump(s.tree, "/") != before {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}
