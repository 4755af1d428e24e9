package service

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

var releases = map[string]tree.Release{"3.8": tree.V38, "3.9": tree.V39}

// world is a tree with the watches on it.
type world struct {
	t    *testing.T
	tree *tree.Tree
	m    *watches
}

func start(t *testing.T, r tree.Release) *world {
	return &world{t, tree.NewRelease(r), newWatches(r)}
}

// change carries out a change that has to succeed, and returns the notices as a line.
func (w *world) change(op wire.Op, body wire.Record) string {
	w.t.Helper()
	r := tree.Request{Session: 7, Op: op, Body: body, Auth: []wire.ID{{Scheme: "super"}}}
	x := tree.Prepare(w.tree, r, w.tree.LastZxid()+1, 1000)
	o := w.tree.Apply(&x)
	if o.Err != wire.OK {
		w.t.Fatalf("operation %d %+v: error %d", op, body, o.Err)
	}
	var all []notice
	for _, e := range o.Events {
		all = append(all, w.m.Fire(e)...)
	}
	return line(all)
}

func line(notices []notice) string {
	names := map[wire.EventType]string{wire.NodeCreated: "created", wire.NodeDeleted: "deleted",
		wire.NodeDataChanged: "data", wire.NodeChildrenChanged: "children"}
	var words []string
	for _, n := range notices {
		words = append(words, fmt.Sprintf("%d: %s %s", n.Watcher, names[n.Event.Type], n.Event.Path))
	}
	return strings.Join(words, ", ")
}

func (w *world) create(path string) string {
	w.t.Helper()
	everybody := []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}
	return w.change(wire.Create, &wire.CreateRequest{Path: path, ACL: everybody})
}

func (w *world) set(path string) string {
	w.t.Helper()
	return w.change(wire.SetData, &wire.SetDataRequest{Path: path, Version: -1})
}

func (w *world) delete(path string) string {
	w.t.Helper()
	return w.change(wire.Delete, &wire.PathVersion{Path: path, Version: -1})
}

// read sets the watch of a read that the tree answers.
func (w *world) read(op wire.Op, path string, watcher int64) {
	_, code := w.tree.Read(tree.Request{Op: op, Body: &wire.PathWatch{Path: path}})
	w.m.AddRead(op, path, code, watcher)
}

func (w *world) add(path string, mode int32, watcher int64) {
	w.t.Helper()
	if code := w.m.Add(&wire.AddWatchRequest{Path: path, Mode: mode}, watcher); code != wire.OK {
		w.t.Fatalf("a watch of %s: error %d", path, code)
	}
}

func (w *world) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestAWatchReportsTheNextEventAlone(t *testing.T) {
	for name, r := range releases {
		t.Run(name, func(t *testing.T) {
			w := start(t, r)
			w.read(wire.Exists, "/a", 1)
			w.read(wire.GetChildren, "/", 2)
			w.want("create", w.create("/a"), "1: created /a, 2: children /")
			w.want("a second node", w.create("/b"), "")
			w.read(wire.GetData, "/a", 3)
			w.read(wire.Exists, "/a", 1)
			w.read(wire.GetChildren2, "/a", 4)
			w.want("set", w.set("/a"), "1: data /a, 3: data /a")
			w.want("set again", w.set("/a"), "")
			w.want("a child", w.create("/a/b"), "4: children /a")
			if n := w.m.Len(); n != 0 {
				t.Errorf("%d watches are left", n)
			}
		})
	}
}

func TestADeletionIsReportedOnceToAWatcher(t *testing.T) {
	for name, r := range releases {
		t.Run(name, func(t *testing.T) {
			w := start(t, r)
			w.create("/a")
			w.create("/a/b")
			w.read(wire.GetChildren, "/a/b", 1)
			w.read(wire.GetData, "/a/b", 3)
			w.read(wire.GetChildren, "/a/b", 3)
			w.read(wire.GetData, "/a/b", 2)
			w.read(wire.GetChildren, "/a", 1)
			w.want("delete", w.delete("/a/b"),
				"2: deleted /a/b, 3: deleted /a/b, 1: deleted /a/b, 1: children /a")
			if n := w.m.Len(); n != 0 {
				t.Errorf("%d watches are left", n)
			}
		})
	}
}

func TestAReadThatFailsLeavesNoWatch(t *testing.T) {
	w := start(t, tree.V38)
	for _, op := range []wire.Op{wire.GetData, wire.GetChildren, wire.GetChildren2} {
		w.read(op, "/a", 1)
	}
	w.read(wire.Exists, "/a\x00", 1)
	if n := w.m.Len(); n != 0 {
		t.Errorf("%d watches are left", n)
	}
	w.read(wire.Exists, "/a", 1)
	w.want("a node that was missing", w.create("/a"), "1: created /a")
}

func TestAPersistentWatchStays(t *testing.T) {
	for name, r := range releases {
		t.Run(name, func(t *testing.T) {
			w := start(t, r)
			w.add("/a", wire.PersistentWatch, 1)
			w.want("create", w.create("/a"), "1: created /a")
			w.want("a child", w.create("/a/b"), "1: children /a")
			w.want("a child's data", w.set("/a/b"), "")
			w.want("data", w.set("/a")+", "+w.set("/a"), "1: data /a, 1: data /a")
			w.want("the child's end", w.delete("/a/b"), "1: children /a")
			w.want("the end", w.delete("/a"), "1: deleted /a")
			w.want("a new begin", w.create("/a"), "1: created /a")
		})
	}
}

func TestARecursiveWatchReportsWhatIsBelow(t *testing.T) {
	for name, r := range releases {
		t.Run(name, func(t *testing.T) {
			w := start(t, r)
			w.add("/a", wire.PersistentRecursiveWatch, 1)
			w.add("/", wire.PersistentRecursiveWatch, 2)
			w.want("create", w.create("/a"), "1: created /a, 2: created /a")
			w.want("a child", w.create("/a/b"), "1: created /a/b, 2: created /a/b")
			w.want("a grandchild", w.create("/a/b/c"), "1: created /a/b/c, 2: created /a/b/c")
			w.want("its data", w.set("/a/b/c"), "1: data /a/b/c, 2: data /a/b/c")
			w.want("its end", w.delete("/a/b/c"), "1: deleted /a/b/c, 2: deleted /a/b/c")
			w.want("a node with the same beginning", w.create("/aa"), "2: created /aa")
			w.want("the root", w.set("/"), "2: data /")
		})
	}
}

// ZOOKEEPER-4466: in 3.8 a watcher has one watch on a path, the last.
func TestAReadWithAWatchOfWhatIsWatchedForGood(t *testing.T) {
	for name, c := range map[string]struct {
		release tree.Release
		second  string
	}{"3.8": {tree.V38, ""}, "3.9": {tree.V39, "1: data /a"}} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.release)
			w.create("/a")
			w.add("/a", wire.PersistentWatch, 1)
			w.read(wire.GetData, "/a", 1)
			w.want("the first change", w.set("/a"), "1: data /a")
			w.want("the second", w.set("/a"), c.second)
		})
	}
}

func TestAConnectionThatIsLostLeavesNoWatch(t *testing.T) {
	w := start(t, tree.V39)
	w.create("/a")
	for _, watcher := range []int64{1, 2} {
		w.read(wire.GetData, "/a", watcher)
		w.read(wire.GetChildren, "/a", watcher)
		w.add("/", wire.PersistentRecursiveWatch, watcher)
	}
	w.m.Drop(1)
	w.want("delete", w.delete("/a"), "2: deleted /a")
}

func TestRemove(t *testing.T) {
	for name, c := range map[string]struct {
		release tree.Release
		mode    int32 // of a watch that stays; -1 for two watches of reads
		remove  wire.WatcherType
		want    wire.Code
		after   string // notices at the end of the node
	}{
		"3.8: children":                            {tree.V38, -1, wire.ChildrenWatcher, wire.OK, "1: deleted /a"},
		"3.8: data":                                {tree.V38, -1, wire.DataWatcher, wire.OK, "1: deleted /a"},
		"3.8: any":                                 {tree.V38, -1, wire.AnyWatcher, wire.OK, ""},
		"3.8: half of a persistent one":            {tree.V38, wire.PersistentWatch, wire.DataWatcher, wire.OK, "1: deleted /a"},
		"3.8: half of a recursive one":             {tree.V38, wire.PersistentRecursiveWatch, wire.DataWatcher, wire.OK, "1: deleted /a"},
		"3.8: the other half of it":                {tree.V38, wire.PersistentRecursiveWatch, wire.ChildrenWatcher, wire.OK, "1: deleted /a"},
		"3.8: a type of 3.9":                       {tree.V38, wire.PersistentWatch, wire.PersistentWatcher, wire.MarshallingError, "1: deleted /a"},
		"3.9: children":                            {tree.V39, -1, wire.ChildrenWatcher, wire.OK, "1: deleted /a"},
		"3.9: any":                                 {tree.V39, -1, wire.AnyWatcher, wire.OK, ""},
		"3.9: no half of a persistent one":         {tree.V39, wire.PersistentWatch, wire.DataWatcher, wire.NoWatcher, "1: deleted /a"},
		"3.9: persistent":                          {tree.V39, wire.PersistentWatch, wire.PersistentWatcher, wire.OK, ""},
		"3.9: persistent, and it is recursive":     {tree.V39, wire.PersistentRecursiveWatch, wire.PersistentWatcher, wire.NoWatcher, "1: deleted /a"},
		"3.9: recursive":                           {tree.V39, wire.PersistentRecursiveWatch, wire.PersistentRecursiveWatcher, wire.OK, ""},
		"3.9: recursive, as any":                   {tree.V39, wire.PersistentRecursiveWatch, wire.AnyWatcher, wire.OK, ""},
		"3.9: recursive, and reads left the watch": {tree.V39, -1, wire.PersistentRecursiveWatcher, wire.NoWatcher, "1: deleted /a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.release)
			w.create("/a")
			if c.mode == -1 {
				w.read(wire.GetData, "/a", 1)
				w.read(wire.GetChildren, "/a", 1)
			} else {
				w.add("/a", c.mode, 1)
			}
			if code := w.m.Check("/a", c.remove, 1); code != c.want {
				t.Errorf("check: %d, want %d", code, c.want)
			}
			if code := w.m.Remove("/a", c.remove, 2); c.want == wire.OK && code != wire.NoWatcher {
				t.Errorf("remove for another watcher: %d", code)
			}
			if code := w.m.Remove("/a", c.remove, 1); code != c.want {
				t.Errorf("remove: %d, want %d", code, c.want)
			}
			w.want("delete", w.delete("/a"), c.after)
		})
	}
}

// 3.8 answers that a client has a watch if another client has one.
func TestCheckOfAnothersWatch(t *testing.T) {
	for name, c := range map[string]struct {
		release tree.Release
		want    wire.Code
	}{"3.8": {tree.V38, wire.OK}, "3.9": {tree.V39, wire.NoWatcher}} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.release)
			w.create("/a")
			w.read(wire.GetData, "/a", 1)
			if code := w.m.Check("/a", wire.DataWatcher, 2); code != c.want {
				t.Errorf("%d, want %d", code, c.want)
			}
			if code := w.m.Check("b", wire.AnyWatcher, 1); code != map[tree.Release]wire.Code{
				tree.V38: wire.MarshallingError, tree.V39: wire.NoWatcher}[c.release] {
				t.Errorf("a path without a slash: %d", code)
			}
			if code := w.m.Check("/b", wire.AnyWatcher, 1); code != wire.NoWatcher {
				t.Errorf("a path without a watch: %d", code)
			}
		})
	}
}

func TestUnknownModesAndTypes(t *testing.T) {
	m := newWatches(tree.V39)
	codes := []wire.Code{
		m.Add(&wire.AddWatchRequest{Path: "/a", Mode: 2}, 1),
		m.Check("/a", 6, 1),
		m.Remove("/a", 0, 1),
	}
	if !slices.Equal(codes, []wire.Code{wire.MarshallingError, wire.MarshallingError, wire.MarshallingError}) {
		t.Errorf("%d", codes)
	}
}

func TestRestoreReportsWhatWasMissed(t *testing.T) {
	for name, r := range releases {
		t.Run(name, func(t *testing.T) {
			w := start(t, r)
			for _, path := range []string{"/same", "/set", "/gone", "/parent", "/parent/gone", "/again", "/last"} {
				w.create(path)
			}
			seen := w.tree.LastZxid()
			w.set("/set")
			w.delete("/gone")
			w.delete("/parent/gone")
			w.delete("/again")
			w.create("/again")
			w.create("/new")
			missed := w.m.Restore(w.tree, &wire.SetWatches2Request{
				SetWatchesRequest: wire.SetWatchesRequest{
					RelativeZxid: seen,
					Data:         []string{"/same", "/set", "/gone", "/again", "/parent", "/last"},
					Exist:        []string{"/new", "/missing"},
					Child:        []string{"/same", "/set", "/gone", "/parent", "/last"},
				},
				Persistent:          []string{"/p"},
				PersistentRecursive: []string{"/r"},
			}, 1)
			w.want("missed", line(missed), "1: data /set, 1: deleted /gone, 1: data /again, 1: created /new, "+
				"1: deleted /gone, 1: children /parent")
			for _, n := range missed {
				anyone := r == tree.V38 || n.Event.Type == wire.NodeDeleted
				if n.Zxid != -1 || (n.ACL == nil) != anyone || n.Event.State != 3 {
					t.Errorf("%+v", n)
				}
			}
			// The others are watched from now on.
			w.want("data", w.set("/same"), "1: data /same")
			w.want("the last that was seen", w.set("/last")+", "+w.create("/last/child"), "1: data /last, 1: children /last")
			w.want("children", w.create("/same/child"), "1: children /same")
			w.want("exists", w.create("/missing"), "1: created /missing")
			w.want("data, where children were missed", w.set("/parent"), "1: data /parent")
			w.want("what was reported", w.set("/set")+w.create("/set/child")+w.create("/gone")+w.create("/parent/b"),
				"1: children /set")
			w.want("persistent", w.create("/p")+", "+w.set("/p"), "1: created /p, 1: data /p")
			w.want("recursive", w.create("/r")+", "+w.create("/r/x"), "1: created /r, 1: created /r/x")
		})
	}
}

// Only watchers that may read a node are notified of it (CVE-2024-23944). In 3.9 a notice
// also has the zxid of its change.
func TestNoticesSayWhoMaySeeThem(t *testing.T) {
	ann := wire.ID{Scheme: "digest", ID: "ann:x"}
	acl := []wire.ACL{{Perms: wire.PermRead, ID: ann}}
	for name, c := range map[string]struct {
		release tree.Release
		zxid    int64
	}{"3.8": {tree.V38, -1}, "3.9": {tree.V39, 1}} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.release)
			w.read(wire.Exists, "/a", 1)
			x := tree.Prepare(w.tree, tree.Request{Op: wire.Create, Body: &wire.CreateRequest{Path: "/a", ACL: acl}}, 1, 1000)
			n := w.m.Fire(w.tree.Apply(&x).Events[0])
			if len(n) != 1 || n[0].Zxid != c.zxid {
				t.Fatalf("%+v", n)
			}
			if !tree.Permits(n[0].ACL, wire.PermRead, []wire.ID{ann}) {
				t.Error("ann may not see it")
			}
			if tree.Permits(n[0].ACL, wire.PermRead, []wire.ID{{Scheme: "digest", ID: "bob:x"}}) {
				t.Error("bob may see it")
			}
		})
	}
}
