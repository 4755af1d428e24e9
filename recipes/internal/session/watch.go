package session

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// Watch returns a watch that fires when the node at path changes or is deleted:
// go-zookeeper sends one event and closes the channel. It returns zk.ErrNoNode when the node is not there; the
// data watch that it uses leaves nothing behind then, unlike ExistsW.
//
// A watch that is set and has not fired is as good as a new one: the server
// delivers its event before any later reply that shows the change.
func Watch(ctx context.Context, s *Session, path string) (Watched, error) {
	return share(ctx, s, path, func() (<-chan zk.Event, error) {
		_, _, ch, err := s.Conn.GetW(path)
		return ch, err
	})
}

// WatchChildren is watchNode for the list of a node's children. It returns the list
// too if it had to ask for the watch.
func WatchChildren(ctx context.Context, s *Session, path string) (watch Watched, children []string, err error) {
	var fresh []string
	watch, err = share(ctx, s, path+childrenOf, func() (ch <-chan zk.Event, err error) {
		fresh, _, ch, err = s.Conn.ChildrenW(path)
		return ch, err
	})
	if err == nil {
		children = fresh // else the request may still be under way
	}
	return watch, children, err
}

// WatchForNode returns a watch that fires when a node that is not there is created. If
// the node is there it returns true, and the watch fires when that one changes or goes.
func WatchForNode(ctx context.Context, s *Session, path string) (watch Watched, there bool, err error) {
	var exists bool
	watch, err = share(ctx, s, path+creationOf, func() (ch <-chan zk.Event, err error) {
		exists, _, ch, err = s.Conn.ExistsW(path)
		return ch, err
	})
	if err == nil {
		there = exists // else the request may still be under way
	}
	return watch, there, err
}

// creationOf makes the name of a watch for a node that is not there. No path ends so.
const creationOf = "//"

// childrenOf makes the name of a watch on children from that of their parent.
// No path ends so.
const childrenOf = "/"

// share returns the watch of this name, which set sets if there is none.
func share(ctx context.Context, s *Session, name string, set func() (<-chan zk.Event, error)) (Watched, error) {
	if watch, ok := s.watches.find(name); ok {
		return watch, nil
	}
	ch, err := Call(ctx, s, func() (<-chan zk.Event, error) {
		ch, err := set()
		if err == nil {
			s.watches.add(name, ch) // also when the caller has gone
		}
		return ch, err
	}, nil)
	return Watched{name, ch}, err
}

// WatchFired forgets a watch that a waiter has seen fire.
func (s *Session) WatchFired(watch Watched) { s.watches.fired(watch) }
