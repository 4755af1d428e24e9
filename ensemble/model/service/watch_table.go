package service

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// mode is the duration and the scope of a watch. A watcher may have several on a path.
type mode int

const (
	once       mode = 1 << iota // until its first event
	persistent                  // until it is removed
	recursive                   // until it is removed, and for all nodes below too
)

// table holds the watches for some types of events: watchers by path.
type table map[string]map[int64]mode

func (t table) set(path string, watcher int64, m mode) {
	if m == 0 {
		delete(t[path], watcher)
		if len(t[path]) == 0 {
			delete(t, path)
		}
		return
	}
	if t[path] == nil {
		t[path] = map[int64]mode{}
	}
	t[path][watcher] = m
}

func (t table) drop(watcher int64) {
	for path := range t {
		t.set(path, watcher, 0)
	}
}

// fire returns the watchers that an event of a node concerns, sorted, and removes the
// watches that were for one event. Recursive watches do not report changes of the list of
// children: they report the children themselves.
func (t table) fire(path string, event wire.EventType) []int64 {
	var concerned []int64
	for watcher, m := range t[path] {
		if m&(once|persistent) != 0 || event != wire.NodeChildrenChanged {
			concerned = append(concerned, watcher)
		}
		t.set(path, watcher, m&^once)
	}
	for above := path; above != "/" && event != wire.NodeChildrenChanged; {
		above = above[:max(1, strings.LastIndexByte(above, '/'))]
		for watcher, m := range t[above] {
			if m&recursive != 0 && !slices.Contains(concerned, watcher) {
				concerned = append(concerned, watcher)
			}
		}
	}
	slices.Sort(concerned)
	return concerned
}
