package session

import (
	"sync"

	"github.com/go-zookeeper/zk"
)

// watches shares one watch among all waiters of a session for one node. ZooKeeper keeps one
// watch for each session and path, but go-zookeeper adds a channel for every GetW and
// cannot remove one: a caller that tries again and again with a timeout behind one long
// holder would accumulate them (CURATOR-654).
type watches struct {
	mu      sync.Mutex
	set     map[string]*watch
	refused *wireConn // the latest connection over which SetWatches was refused
}

// watch is one watch that has been set.
type watch struct {
	event chan zk.Event // nil: the watch is go-zookeeper's
	seen  <-chan zk.Event
	czxid int64 // of the node when the watch was set, 0 if that is not known
	// link is the connection over which a joint watch was set, see WatchTogether. The watch
	// is gone when the connection is. go-zookeeper sets its own watches again: their link
	// is nil.
	link *wireConn
}

// Watched is one watch that is shared.
type Watched struct {
	name  string
	Event <-chan zk.Event // readable, for any number of readers, when it has fired
	czxid int64           // of the node that is watched, 0 if that is not known
}

// find returns the watch of this name if it is set and has not fired. A joint watch counts
// only if it was set over link, the connection of the session, which is locked. A joint
// watch may have fired: its next waiter is told at once.
func (w *watches) find(name string, link *wireConn) (Watched, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(name, link)
}

// look is find, with w locked.
func (w *watches) look(name string, link *wireConn) (Watched, bool) {
	for other, one := range w.set {
		fired := len(one.seen) > 0 // while no waiter waited
		if joint := one.link != nil; joint && one.link != link || fired && !(joint && other == name) {
			delete(w.set, other)
		}
	}
	one, ok := w.set[name]
	if !ok {
		return Watched{}, false
	}
	return Watched{name, one.seen, one.czxid}, true
}

// add notes that a watch has been set. It does not replace a joint watch that was set
// meanwhile and has not fired: the waiters for that one are told through w.
func (w *watches) add(name string, ch <-chan zk.Event, czxid int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.set[name]; one != nil && one.event != nil {
		return
	}
	w.put(name, &watch{seen: ch, czxid: czxid})
}

// put is add, with w locked.
func (w *watches) put(name string, one *watch) {
	if w.set == nil {
		w.set = make(map[string]*watch)
	}
	w.set[name] = one
}

// join notes that one request is about to set watches on nodes over the connection of the
// session, which is locked. It returns nil when one of the watches is set, or when there is
// no connection.
func (w *watches) join(paths []string, link *wireConn) *wireConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	if link == nil || link == w.refused {
		return nil
	}
	for _, path := range paths {
		if _, ok := w.look(path, link); ok {
			return nil
		}
	}
	for _, path := range paths {
		event := make(chan zk.Event, 1)
		w.put(path, &watch{event: event, seen: event, link: link})
	}
	return link
}

// unset forgets all watches: the server of this connection has refused to set some of them.
// No more watches are set together over it, since only the answer to a watch that is set
// alone is waited for.
func (w *watches) unset(link *wireConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = link
	clear(w.set)
}

// happened tells the waiters for a joint watch that its node has changed or gone.
func (w *watches) happened(e zk.Event) {
	if e.Type != zk.EventNodeDeleted && e.Type != zk.EventNodeDataChanged {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.set[e.Path]; one != nil && one.event != nil {
		one.event <- e
		one.end()
	}
}

// end ends the wait of all waiters for a joint watch.
func (one *watch) end() {
	close(one.event)
	one.event = nil
}

// fired forgets a watch that a waiter has seen fire, or does not trust any more. The other
// waiters for a joint watch look again, because only w tells them when it fires.
func (w *watches) fired(seen Watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.set[seen.name]
	if one == nil || one.seen != seen.Event {
		return
	}
	delete(w.set, seen.name)
	if one.event != nil {
		one.end()
	}
}
