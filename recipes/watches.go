package recipes

import (
	"context"
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

// on returns a channel that becomes readable, for any number of readers, when
// the node at path changes or is deleted: go-zookeeper sends one event and
// closes the channel. It returns zk.ErrNoNode when the node is not there; the
// data watch that it uses leaves nothing behind then, unlike ExistsW.
//
// A watch that is set and has not fired is as good as a new one: the server
// delivers its event before any later reply that shows the change.
func (w *watches) on(ctx context.Context, s *session, path string) (<-chan zk.Event, error) {
	w.mu.Lock()
	for p, ch := range w.set {
		if len(ch) > 0 { // fired with nobody waiting
			delete(w.set, p)
		}
	}
	ch, ok := w.set[path]
	w.mu.Unlock()
	if ok {
		return ch, nil
	}
	ch, err := call(ctx, s, func() (<-chan zk.Event, error) {
		_, _, ch, err := s.conn.GetW(path)
		if err == nil {
			w.mu.Lock()
			if w.set == nil {
				w.set = make(map[string]<-chan zk.Event)
			}
			w.set[path] = ch // also when the caller has gone
			w.mu.Unlock()
		}
		return ch, err
	}, nil)
	return ch, err
}

// fired forgets a watch that a waiter has seen fire.
func (w *watches) fired(path string, ch <-chan zk.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.set[path] == ch {
		delete(w.set, path)
	}
}
