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

// watched is one watch that is shared.
type watched struct {
	name  string
	event <-chan zk.Event // readable, for any number of readers, when it has fired
}

// on returns a watch that fires when the node at path changes or is deleted:
// go-zookeeper sends one event and closes the channel. It returns zk.ErrNoNode when the node is not there; the
// data watch that it uses leaves nothing behind then, unlike ExistsW.
//
// A watch that is set and has not fired is as good as a new one: the server
// delivers its event before any later reply that shows the change.
func (w *watches) on(ctx context.Context, s *session, path string) (watched, error) {
	return w.share(ctx, s, path, func() (<-chan zk.Event, error) {
		_, _, ch, err := s.conn.GetW(path)
		return ch, err
	})
}

// onChildren is on for the list of a node's children. It returns the list too
// if it had to ask for the watch.
func (w *watches) onChildren(ctx context.Context, s *session, path string) (watch watched, children []string, err error) {
	var fresh []string
	watch, err = w.share(ctx, s, path+childrenOf, func() (ch <-chan zk.Event, err error) {
		fresh, _, ch, err = s.conn.ChildrenW(path)
		return ch, err
	})
	if err == nil {
		children = fresh // else the request may still be under way
	}
	return watch, children, err
}

// childrenOf makes the name of a watch on children from that of their parent.
// No path ends so.
const childrenOf = "/"

func (w *watches) share(ctx context.Context, s *session, name string, set func() (<-chan zk.Event, error)) (watched, error) {
	w.mu.Lock()
	for other, ch := range w.set {
		if len(ch) > 0 { // fired with nobody waiting
			delete(w.set, other)
		}
	}
	ch, ok := w.set[name]
	w.mu.Unlock()
	if ok {
		return watched{name, ch}, nil
	}
	ch, err := call(ctx, s, func() (<-chan zk.Event, error) {
		ch, err := set()
		if err == nil {
			w.mu.Lock()
			if w.set == nil {
				w.set = make(map[string]<-chan zk.Event)
			}
			w.set[name] = ch // also when the caller has gone
			w.mu.Unlock()
		}
		return ch, err
	}, nil)
	return watched{name, ch}, err
}

// fired forgets a watch that a waiter has seen fire.
func (w *watches) fired(seen watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.set[seen.name] == seen.event {
		delete(w.set, seen.name)
	}
}
