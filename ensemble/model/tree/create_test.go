package tree_test

import (
	"math"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// The number of a sequential node is the number of children that its parent ever had, of
// any name, deleted or not.
func TestSequentialNodesCountTheChildrenThatEverWere(t *testing.T) {
	s := start(t, tree.V38)
	s.makeAll("/a")
	next := func(path string, flags int32) string {
		t.Helper()
		return s.must(wire.Create, create(path, flags)).Reply.(*wire.Path).Path
	}
	for _, c := range []struct {
		name, got, want string
	}{
		{"the first", next("/a/n-", wire.FlagSequential), "/a/n-0000000000"},
		{"another prefix", next("/a/m-", wire.FlagEphemeralSequential), "/a/m-0000000001"},
		{"an ordinary child", next("/a/x", 0), "/a/x"},
		{"no prefix", next("/a/", wire.FlagSequential), "/a/0000000003"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	s.must(wire.Delete, &wire.PathVersion{Path: "/a/0000000003", Version: -1})
	if got := next("/a/n-", wire.FlagSequential); got != "/a/n-0000000004" {
		t.Errorf("after a deletion: %s", got)
	}
	if got := next("/", wire.FlagSequential); got != "/0000000001" {
		t.Errorf("below the root, which has /a: %s", got)
	}
}

// Beyond 2147483647 the number is negative while the creation is under way, as it is for
// the later parts of a multi, and never reaches the node's stat. So the parent keeps its
// number, and the next node of that name exists already.
func TestSequenceNumbersOverflow(t *testing.T) {
	s := start(t, tree.V38)
	s.makeAll("/a")
	s.tree.Apply(&tree.Txn{Zxid: 2, Op: wire.Create,
		Change: tree.Create{Path: "/a/x", ACL: world, ParentCversion: math.MaxInt32 - 1}})
	n := wire.Part{Op: wire.Create, Body: create("/a/n", wire.FlagSequential)}
	o := s.must(wire.Multi, multi(n, n, n))
	for i, want := range []string{"/a/n2147483646", "/a/n2147483647", "/a/n-2147483648"} {
		if got := o.Reply.(*wire.MultiReply).Results[i].Body.(*wire.Path).Path; got != want {
			t.Errorf("the %d. of a multi is %s, want %s", i+1, got, want)
		}
	}
	pzxid := s.stat("/a").Pzxid
	if o := s.change(wire.Create, create("/a/n", wire.FlagSequential)); o.Err != wire.NodeExists {
		t.Errorf("the same name again: error %d", o.Err)
	}
	o = s.must(wire.Create, create("/a/m", wire.FlagSequential))
	if got := o.Reply.(*wire.Path).Path; got != "/a/m2147483647" {
		t.Errorf("another name: %s", got)
	}
	if got := s.stat("/a").Pzxid; got != pzxid {
		t.Errorf("a child that is not counted changed the pzxid from %d to %d", pzxid, got)
	}
}

// The operation decides the kind of a node, where the flags contradict it.
func TestKindsOfNodes(t *testing.T) {
	for _, c := range []struct {
		name      string
		op        wire.Op
		body      wire.Record
		path      string
		ephemeral bool // ends with its session
		reapable  bool // is reaped once it had a child
	}{
		{"persistent", wire.Create, create("/n", wire.FlagPersistent), "/n", false, false},
		{"ephemeral", wire.Create2, create("/n", wire.FlagEphemeral), "/n", true, false},
		{"ephemeral and sequential", wire.Create, create("/n", wire.FlagEphemeralSequential), "/n0000000000", true, false},
		{"container", wire.CreateContainer, create("/n", wire.FlagContainer), "/n", false, true},
		{"container without its flag", wire.CreateContainer, create("/n", wire.FlagPersistent), "/n", false, true},
		{"sequential container", wire.CreateContainer, create("/n", wire.FlagSequential), "/n0000000000", false, true},
		{"a container's flag alone", wire.Create, create("/n", wire.FlagContainer), "/n", false, false},
		{"with a time to live", wire.CreateTTL, createTTL("/n", wire.FlagPersistentTTL, 5), "/n", false, true},
		{"sequential with a time to live", wire.CreateTTL, createTTL("/n", wire.FlagPersistentSequentialTTL, 5), "/n0000000000", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, tree.V38)
			s.must(c.op, c.body)
			owner := s.stat(c.path).EphemeralOwner
			if c.ephemeral != (owner == 7) || !c.ephemeral && owner != 0 {
				t.Errorf("the owner is %d", owner)
			}
			if !c.ephemeral {
				s.makeAll(c.path + "/child")
				s.must(wire.Delete, &wire.PathVersion{Path: c.path + "/child", Version: -1})
			}
			if due := s.tree.Reapable(s.now+100, 0); (len(due) == 1) != c.reapable {
				t.Errorf("reapable: %q", due)
			}
			s.must(wire.CloseSession, nil)
			if _, ok := s.tree.Stat(c.path); ok == c.ephemeral {
				t.Errorf("after its session: %v", ok)
			}
		})
	}
}

func TestRepliesToCreates(t *testing.T) {
	s := start(t, tree.V38)
	if r, ok := s.must(wire.Create, create("/a", 0)).Reply.(*wire.Path); !ok || r.Path != "/a" {
		t.Errorf("Create: %+v", r)
	}
	for _, c := range []struct {
		op   wire.Op
		body wire.Record
	}{
		{wire.Create2, create("/b", 0)},
		{wire.CreateContainer, create("/c", wire.FlagContainer)},
		{wire.CreateTTL, createTTL("/d", wire.FlagPersistentTTL, 1)},
	} {
		r, ok := s.must(c.op, c.body).Reply.(*wire.CreateReply)
		if !ok || r.Stat != s.stat(r.Path) || r.Stat.Czxid != s.tree.LastZxid() {
			t.Errorf("operation %d: %+v", c.op, r)
		}
	}
}

func TestReapable(t *testing.T) {
	s := start(t, tree.V38)
	for _, path := range []string{"/busy", "/emptied", "/fresh"} {
		s.must(wire.CreateContainer, create(path, wire.FlagContainer))
	}
	s.makeAll("/busy/child", "/emptied/child")
	s.must(wire.Delete, &wire.PathVersion{Path: "/emptied/child", Version: -1})
	s.must(wire.CreateTTL, createTTL("/timed", wire.FlagPersistentTTL, 50))
	made := s.now
	s.must(wire.CreateTTL, createTTL("/parent", wire.FlagPersistentTTL, 1))
	s.makeAll("/parent/child")
	due := func(when string, now, maxNeverUsed int64, want ...string) {
		t.Helper()
		got := s.tree.Reapable(now, maxNeverUsed)
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q", when, got, want)
			return
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
	}
	due("at the very end of the time", made+50, 0, "/emptied")
	due("past it", made+51, 0, "/emptied", "/timed")
	due("long past it, with a limit for unused containers", made+1000, 1000, "/emptied", "/fresh", "/timed")
	s.now = made + 60
	s.must(wire.SetData, &wire.SetDataRequest{Path: "/timed", Version: -1})
	due("after it was written to", made+111, 0, "/emptied")
	due("a time after that", made+112, 0, "/emptied", "/timed")
	s.must(wire.DeleteContainer, &wire.Path{Path: "/emptied"})
	s.must(wire.DeleteContainer, &wire.Path{Path: "/timed"})
	due("after they were deleted", made+1000, 0)
}
