package session

import (
	"sync"

	"github.com/go-zookeeper/zk"
)

// watches shares one watch among all waiters of a session for one node.
// ZooKeeper keeps one watch a session and path, but go-zookeeper adds a channel
// for every GetW and cannot take one back: a caller that tries again and again
// with a timeout behind one long holder would pile them up (CURATOR-654).
type watches struct {
	mu  sync.Mutex
	set map[string]<-chan zk.Event
}

// Watched is one watch that is shared.
type Watched struct {
	name  string
	Event <-chan zk.Event // readable, for any number of readers, when it has fired
}

// find returns the watch of this name that is set and has not fired.
func (w *watches) find(name string) (Watched, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, ch := range w.set {
		if len(ch) > 0 { // fired with nobody waiting
			delete(w.set, other)
		}
	}
	ch, ok := w.set[name]
	return Watched{name, ch}, ok
}

// add notes that a watch has been set.
func (w *watches) add(name string, ch <-chan zk.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.set == nil {
		w.set = make(map[string]<-chan zk.Event)
	}
	w.set[name] = ch
}

// fired forgets a watch that a waiter has seen fire.
func (w *watches) fired(seen Watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.set[seen.name] == seen.Event {
		delete(w.set, seen.name)
	}
}
