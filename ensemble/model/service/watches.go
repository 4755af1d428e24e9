package service

import (
	"maps"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// watches holds the watches of a server's clients, and finds the watchers that an event of the
// tree concerns.
//
// A watcher is a connection: when it is lost, the server calls Drop, and the client sets its
// watches again at its next server (Restore). Notices are in the order in which they are sent;
// watchers that the real server has in the order of a HashSet are sorted.
//
// Source: WatchManager and DataTree.setWatches.
type watches struct {
	release tree.Release
	data    table // for a node's creation, its data and its deletion
	child   table // for its list of children and its deletion
}

// newWatches returns no watches.
func newWatches(r tree.Release) *watches { return &watches{r, table{}, table{}} }

// AddRead sets the watch of a read, if the read leaves one. A read that fails leaves
// none, except an Exists of a node that does not exist.
func (m *watches) AddRead(op wire.Op, path string, code wire.Code, watcher int64) {
	switch {
	case op == wire.Exists && (code == wire.OK || code == wire.NoNode), op == wire.GetData && code == wire.OK:
		m.add(m.data, path, watcher, once)
	case (op == wire.GetChildren || op == wire.GetChildren2) && code == wire.OK:
		m.add(m.child, path, watcher, once)
	}
}

// Add sets a watch that stays until it is removed. It needs no permission, and no node.
func (m *watches) Add(r *wire.AddWatchRequest, watcher int64) wire.Code {
	switch r.Mode {
	case wire.PersistentWatch:
		m.add(m.data, r.Path, watcher, persistent)
		m.add(m.child, r.Path, watcher, persistent)
	case wire.PersistentRecursiveWatch:
		m.addRecursive(r.Path, watcher)
	default:
		return wire.MarshallingError
	}
	return wire.OK
}

// addRecursive sets the watch in both tables in 3.8. Both report the same deletions, and
// are removed one by one.
func (m *watches) addRecursive(path string, watcher int64) {
	m.add(m.data, path, watcher, recursive)
	if m.release == tree.V38 {
		m.add(m.child, path, watcher, recursive)
	}
}

// add sets a watch. In 3.8 a watcher has one on a path, and the last one replaces the one
// before: a read with a watch ends a persistent watch.
func (m *watches) add(t table, path string, watcher int64, is mode) {
	if m.release != tree.V38 {
		is |= t[path][watcher]
	}
	t.set(path, watcher, is)
}

// Check answers CheckWatches with OK or NoWatcher. 3.8 says OK if any client watches the
// path, and cannot read a path without a slash.
func (m *watches) Check(path string, is wire.WatcherType, watcher int64) wire.Code {
	tables, modes, ok := m.meant(is)
	if !ok || m.release == tree.V38 && path != "" && !strings.Contains(path, "/") {
		return wire.MarshallingError
	}
	for _, t := range tables {
		if t[path][watcher]&modes != 0 || m.release == tree.V38 && len(t[path]) > 0 {
			return wire.OK
		}
	}
	return wire.NoWatcher
}

// Remove answers RemoveWatches with OK, or NoWatcher if there was none.
func (m *watches) Remove(path string, is wire.WatcherType, watcher int64) wire.Code {
	tables, modes, ok := m.meant(is)
	if !ok {
		return wire.MarshallingError
	}
	code := wire.NoWatcher
	for _, t := range tables {
		if has := t[path][watcher]; has&modes != 0 {
			t.set(path, watcher, has&^modes)
			code = wire.OK
		}
	}
	return code
}

// meant returns the tables that hold the watches of a type, and their modes.
func (m *watches) meant(is wire.WatcherType) (tables []table, modes mode, ok bool) {
	all := once | persistent | recursive
	modes = once
	if m.release == tree.V38 {
		modes = all
	}
	switch {
	case is == wire.ChildrenWatcher:
		return []table{m.child}, modes, true
	case is == wire.DataWatcher:
		return []table{m.data}, modes, true
	case is == wire.AnyWatcher:
		return []table{m.child, m.data}, all, true
	case is == wire.PersistentWatcher && m.release != tree.V38:
		return []table{m.child, m.data}, persistent, true
	case is == wire.PersistentRecursiveWatcher && m.release != tree.V38:
		return []table{m.data}, recursive, true
	}
	return nil, 0, false
}

// Drop removes all watches of a connection that was lost.
func (m *watches) Drop(watcher int64) {
	m.data.drop(watcher)
	m.child.drop(watcher)
}

// Len returns the number of watches. A watch that is in both tables counts twice.
func (m *watches) Len() int {
	n := 0
	for _, t := range []table{m.data, m.child} {
		for _, watchers := range t {
			n += len(watchers)
		}
	}
	return n
}

// fired returns the watchers that an event concerns, each once.
func (m *watches) fired(e tree.Event) []int64 {
	switch e.Type {
	case wire.NodeChildrenChanged:
		return m.child.fire(e.Path, e.Type)
	case wire.NodeDeleted:
		first := m.data.fire(e.Path, e.Type)
		second := m.child.fire(e.Path, e.Type)
		return append(first, slices.DeleteFunc(second, func(w int64) bool { return slices.Contains(first, w) })...)
	}
	return m.data.fire(e.Path, e.Type)
}

// Watched returns the paths of the watches that wait for a node's creation, data and
// deletion, with their watchers, sorted.
func (m *watches) Watched() []watched {
	var all []watched
	for _, path := range slices.Sorted(maps.Keys(m.data)) {
		all = append(all, watched{path, slices.Sorted(maps.Keys(m.data[path]))})
	}
	return all
}

// watched is a path with its watchers.
type watched struct {
	Path     string
	Watchers []int64
}
