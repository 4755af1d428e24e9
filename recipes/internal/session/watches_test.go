package session

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/go-zookeeper/zk"
)

// broken is a connection that takes half of each write.
type broken struct {
	net.Conn
	closed bool
}

func (b *broken) Write(p []byte) (int, error) { return len(p) / 2, errors.New("broken") }

func (b *broken) Close() error {
	b.closed = true
	return nil
}

// The server would take bytes after half a request for the rest of it.
func TestAConnectionWithHalfARequestIsClosed(t *testing.T) {
	conn := &broken{}
	s := &Session{up: true, link: &wireConn{Conn: conn}, calls: make(chan struct{}, 1), Ended: make(chan struct{})}
	if err := WatchTogether(t.Context(), s, "/a", "/b"); err != nil || !conn.closed {
		t.Errorf("got %v, and the connection is closed: %v", err, conn.closed)
	}
}

// A call that ends before its request is sent has set nothing.
func TestAJointWatchThatIsNotSentIsNotSet(t *testing.T) {
	s := &Session{up: true, link: &wireConn{Conn: &broken{}}, calls: make(chan struct{}), Ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WatchTogether(ctx, s, "/a", "/b"); err == nil {
		t.Error("it is sent")
	}
	if _, ok := s.watches.find("/a", s.link); ok {
		t.Error("it is set")
	}
}

func TestWhichWatchesAreFound(t *testing.T) {
	first, second := new(wireConn), new(wireConn)
	finds := func(w *watches, link *wireConn, names ...string) (found int) {
		for _, name := range names {
			if _, ok := w.find(name, link); ok {
				found++
			}
		}
		return found
	}
	var w watches
	if w.join([]string{"/a", "/b"}, nil) != nil || finds(&w, first, "/a", "/b") != 0 {
		t.Error("without a connection a watch is set")
	}
	if w.join([]string{"/a", "/b"}, first) != first || finds(&w, first, "/a", "/b") != 2 {
		t.Error("a joint watch is not found")
	}
	if w.join([]string{"/b", "/c"}, first) != nil || finds(&w, first, "/c") != 0 {
		t.Error("what is watched is watched again")
	}
	a, _ := w.find("/a", first)
	w.happened(zk.Event{Type: zk.EventNodeChildrenChanged, Path: "/a"})
	if len(a.Event) != 0 {
		t.Error("an event of the children is taken for one of the node")
	}
	w.happened(zk.Event{Type: zk.EventNodeDeleted, Path: "/a"})
	w.happened(zk.Event{Type: zk.EventNodeDeleted, Path: "/a"}) // go-zookeeper has set the same watch
	if again, ok := w.find("/a", first); !ok || again != a || (<-a.Event).Type != zk.EventNodeDeleted {
		t.Error("an event is not kept until a waiter asks for the watch")
	}
	w.fired(a)
	if finds(&w, first, "/a") != 0 {
		t.Error("a watch is found although a waiter has seen it fire")
	}
	w.happened(zk.Event{Type: zk.EventNodeDataChanged, Path: "/b"})
	if finds(&w, first, "/other", "/b") != 0 {
		t.Error("an event is kept although another watch is asked for")
	}
	w.join([]string{"/a", "/b"}, first)
	if finds(&w, second, "/a", "/b") != 0 {
		t.Error("a joint watch has outlived its connection")
	}
}

// A request of one watch may be under way when another one sets it jointly, and of the
// waiters for a joint watch one may cease to trust it.
func TestEachWaiterForAJointWatchIsTold(t *testing.T) {
	link := new(wireConn)
	over := func(ch <-chan zk.Event) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	var w watches
	w.join([]string{"/a", "/b"}, link)
	a, _ := w.find("/a", link)
	w.add("/a", make(chan zk.Event, 1), 1) // the answer to a request from before
	if again, ok := w.find("/a", link); !ok || again != a {
		t.Error("a joint watch that others wait for is not found any more")
	}
	if w.happened(zk.Event{Type: zk.EventNodeDeleted, Path: "/a"}); !over(a.Event) {
		t.Error("a waiter for a joint watch is not told, for it was set another time")
	}
	b, _ := w.find("/b", link)
	if w.fired(b); !over(b.Event) {
		t.Error("the other waiters for a watch that is not trusted still wait")
	}
	single := make(chan zk.Event, 1)
	w.add("/a", single, 1)
	if again, ok := w.find("/a", link); !ok || again.Event != (<-chan zk.Event)(single) {
		t.Error("a joint watch that has fired is not replaced")
	}
}
