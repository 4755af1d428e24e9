package service

import (
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// notice is a notification for a connection.
type notice struct {
	Watcher int64
	Zxid    int64      // of the reply's header: that of the change in 3.9, and -1 in 3.8
	ACL     []wire.ACL // only connections that it permits to read are notified; nil permits all
	Event   wire.WatcherEvent
}

const connected = 3 // the state of a session in an event of a node

// Fire returns the notices that an event causes.
func (m *watches) Fire(e tree.Event) []notice {
	var all []notice
	for _, w := range m.fired(e) {
		n := notice{w, e.Zxid, e.ACL, wire.WatcherEvent{Type: e.Type, State: connected, Path: e.Path}}
		if m.release == tree.V38 {
			n.Zxid = -1
		}
		all = append(all, n)
	}
	return all
}

// Restore sets the watches that a client had at its last server, and returns the notices
// that it missed: for the changes of its nodes after the last zxid that it has seen. A
// client that watched a node's data sees a deletion followed by a creation as a change of
// the data.
func (m *watches) Restore(t *tree.Tree, r *wire.SetWatches2Request, watcher int64) []notice {
	var missed []notice
	notify := func(path string, e wire.EventType) {
		n := notice{watcher, -1, nil, wire.WatcherEvent{Type: e, State: connected, Path: path}}
		if m.release == tree.V39 {
			n.ACL = t.ACL(path)
		}
		missed = append(missed, n)
	}
	restore := func(paths []string, on table, changed wire.EventType, at func(wire.Stat) int64) {
		for _, path := range paths {
			stat, exists := t.Stat(path)
			switch {
			case !exists:
				notify(path, wire.NodeDeleted)
			case at(stat) > r.RelativeZxid:
				notify(path, changed)
			default:
				m.add(on, path, watcher, once)
			}
		}
	}
	restore(r.Data, m.data, wire.NodeDataChanged, func(s wire.Stat) int64 { return s.Mzxid })
	for _, path := range r.Exist {
		if _, exists := t.Stat(path); exists {
			notify(path, wire.NodeCreated)
		} else {
			m.add(m.data, path, watcher, once)
		}
	}
	restore(r.Child, m.child, wire.NodeChildrenChanged, func(s wire.Stat) int64 { return s.Pzxid })
	for _, path := range r.Persistent {
		m.add(m.data, path, watcher, persistent)
		m.add(m.child, path, watcher, persistent)
	}
	for _, path := range r.PersistentRecursive {
		m.addRecursive(path, watcher)
	}
	return missed
}
