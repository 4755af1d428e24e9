package session

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/go-zookeeper/zk"
)

// Watch returns a watch that fires when the node at path changes or is deleted:
// go-zookeeper sends one event and closes the channel. It returns zk.ErrNoNode when the
// node does not exist; the data watch that it uses leaves nothing behind then, unlike
// ExistsW.
//
// A watch that is set and has not fired is as good as a new one: the server delivers its
// event before any later reply that shows the change.
func Watch(ctx context.Context, s *Session, path string) (Watched, error) {
	return share(ctx, s, path, func() (<-chan zk.Event, int64, error) {
		_, stat, ch, err := s.Conn.GetW(path)
		if err != nil {
			return nil, 0, err
		}
		return ch, stat.Czxid, nil
	})
}

// WatchTogether sets watches like those of Watch on several nodes by one request, unless
// one of them is set. [Watch] finds them then. The watch on a node that does not exist
// fires at once.
//
// The request is SetWatches, by which a client that has come to another server sets its
// watches again. go-zookeeper has no other use for it, but the servers support this one:
// DataTree.setWatches of 3.8.0 to 3.9.6 sets a watch on each node, or sends the event at
// once if the node is gone. It does not check the permission to read the node, and from
// 3.9.2 on the event is not sent without that permission.
//
// The answer has no other content, and WatchTogether does not wait for it: an event goes
// ahead of each later answer that shows its change. An answer that is an error is still
// noticed: see unwatched.
func WatchTogether(ctx context.Context, s *Session, paths ...string) error {
	_, err := Call(ctx, s, func() (struct{}, error) {
		var link *wireConn
		s.With(func(l Locked) { link = s.watches.join(paths, l.upLink()) })
		if link == nil {
			return struct{}{}, nil // or there is no connection: the waiters are told of the next
		}
		if _, err := link.Conn.Write(setWatches(paths)); err != nil {
			_ = link.Close() // half of it may have been sent
		}
		return struct{}{}, nil
	}, nil)
	return err
}

// upLink returns the connection that the session uses, or nil if it has none.
func (l Locked) upLink() *wireConn {
	if !l.s.up {
		return nil
	}
	return l.s.link
}

// setWatches encodes a request for data watches. It passes the largest zxid, so that the
// servers count no node's data as changed: waiters wait until nodes go.
func setWatches(paths []string) []byte {
	const xid, op, zxid = xidSetWatches, opSetWatches, math.MaxInt64
	frame := make([]byte, 4, 256)
	put := func(n int) { frame = binary.BigEndian.AppendUint32(frame, uint32(int32(n))) }
	put(xid)
	put(op)
	frame = binary.BigEndian.AppendUint64(frame, zxid)
	put(len(paths))
	for _, path := range paths {
		put(len(path))
		frame = append(frame, path...)
	}
	put(0) // nodes that are not there
	put(0) // children
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// WatchChildren is Watch for the list of a node's children. It returns the list too if it
// had to ask for the watch.
func WatchChildren(ctx context.Context, s *Session, path string) (watch Watched, children []string, err error) {
	var fresh []string
	watch, err = share(ctx, s, path+childrenOf, func() (ch <-chan zk.Event, _ int64, err error) {
		fresh, _, ch, err = s.Conn.ChildrenW(path)
		return ch, 0, err
	})
	if err == nil {
		children = fresh // else the request may still be under way
	}
	return watch, children, err
}

// WatchForNode returns a watch that fires when a node that does not exist is created. If
// the node exists it returns true, and the watch fires when the node changes or goes.
func WatchForNode(ctx context.Context, s *Session, path string) (watch Watched, there bool, err error) {
	var exists bool
	watch, err = share(ctx, s, path+creationOf, func() (ch <-chan zk.Event, _ int64, err error) {
		exists, _, ch, err = s.Conn.ExistsW(path)
		return ch, 0, err
	})
	if err == nil {
		there = exists // else the request may still be under way
	}
	return watch, there, err
}

// creationOf is the end of the name of a watch for a node that does not exist. No path ends
// so.
const creationOf = "//"

// childrenOf is the end of the name of a watch on children, after the path of their parent.
// No path ends so.
const childrenOf = "/"

// share returns the watch of this name. It sets the watch with set if there is none; set
// returns the czxid of the node, or 0 if it does not know it.
func share(ctx context.Context, s *Session, name string, set func() (<-chan zk.Event, int64, error)) (Watched, error) {
	var watch Watched
	var ok bool
	s.With(func(l Locked) { watch, ok = s.watches.find(name, l.upLink()) })
	if ok {
		return watch, nil
	}
	return Call(ctx, s, func() (Watched, error) {
		ch, czxid, err := set()
		if err == nil {
			s.watches.add(name, ch, czxid) // also when the caller has gone
		}
		return Watched{name, ch, czxid}, err
	}, nil)
}

// WatchFired forgets a watch that a waiter has seen fire.
func (s *Session) WatchFired(watch Watched) { s.watches.fired(watch) }
