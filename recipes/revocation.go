package recipes

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// revokeData is what Curator's Revoker sets a lock node's data to.
const revokeData = "__REVOKE__"

// Revoke asks the holder of the lock node at path (see [Participant] and
// [Lease.Node]) to release the lock: Curator's Revoker.attemptRevoke. Nobody is
// forced: the holder's listeners are called, see [Lease.OnRevoke], and it is up
// to them. The client of a node that still waits is notified of the request when it
// has acquired the lock.
//
// A node that is gone is no error: there is nothing left to release. Errors:
// ctx's cause; [ErrBadPath], also when the node is not named as a lock's, since
// the request replaces its data; [ErrClosed]; errors of ZooKeeper such as
// zk.ErrNoAuth. The path is a whole one, as Participants and Node report it,
// also under WithNamespace.
func (c *Client) Revoke(ctx context.Context, path string) error {
	if err := session.CheckPath(path); err != nil {
		return opError("revoke", path, err)
	}
	if _, ok := queue.ParsePlace(path[strings.LastIndexByte(path, '/')+1:], queue.All); !ok {
		return opError("revoke", path, ErrBadPath)
	}
	if ctx.Err() != nil {
		return opError("revoke", path, context.Cause(ctx))
	}
	for {
		s, err := c.sessions.Get(ctx)
		if err != nil {
			return opError("revoke", path, err)
		}
		// Set again after a lost reply it is the same request.
		_, err = session.Retry(ctx, s, func() (*zk.Stat, error) { return s.Conn.Set(path, []byte(revokeData), -1) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !errors.Is(err, session.ErrEnded):
			return opError("revoke", path, err)
		}
	}
}

// OnRevoke calls f when somebody asks the holder to release the lock, also when
// that was before OnRevoke, and returns a function that takes f away again. It
// is called by the goroutine that calls the [Observer], once for each request;
// requests that come while one is being taken note of may be told as one. The
// data of the lock node is put back, so that participants see it again.
func (l *Lease) OnRevoke(f func(*Lease)) (stop func()) {
	l.hold.S.With(func(s session.Locked) { stop = l.onRevoke(s, f) })
	return stop
}

// onRevoke is OnRevoke with the session locked.
func (l *Lease) onRevoke(s session.Locked, f func(*Lease)) (stop func()) {
	h := l.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	id := new(byte)
	listener := func() { f(l) }
	if h.revoke == nil {
		h.revoke = make(map[*byte]func())
	}
	h.revoke[id] = listener
	if h.asked {
		h.registry.post(func() { h.tell(id) })
	}
	if !h.watched && !h.over && !s.Over() {
		h.watched = true
		s.Spawn(h.watchRevocation)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.revoke, id)
	}
}

// tell calls one listener, if it is still there.
func (h *hold) tell(id *byte) {
	h.mu.Lock()
	f := h.revoke[id]
	h.mu.Unlock()
	if f != nil {
		f()
	}
}

// watchRevocation watches the data of the lock node from the first listener to
// the end of the hold. It reads before it waits, so that a request from before
// the watch is seen. The hold owns its goroutine.
func (h *hold) watchRevocation() {
	path := h.Nodes[0]
	ctx, cancel := context.WithCancel(h.S.Quit)
	defer cancel()
	if !h.S.Spawn(func() { // ends with the hold, which does not outlive its session
		<-h.ended
		cancel()
	}) {
		return
	}
	for {
		_, linkChanged := h.S.LinkState()
		watch, err := h.readRevocation(ctx, path)
		switch {
		case err == nil:
		case ctx.Err() != nil, session.Answered(err):
			return // the heartbeat sees what has become of the node
		default:
			if h.S.AwaitUp(ctx) != nil {
				return
			}
			continue
		}
		select {
		case <-watch.Event:
			h.S.WatchFired(watch)
		case <-linkChanged:
		case <-ctx.Done():
			return
		}
	}
}

// readRevocation sets a watch on the lock node's data, unless there is one, and
// then looks for a request in it.
func (h *hold) readRevocation(ctx context.Context, path string) (session.Watched, error) {
	watch, err := session.Watch(ctx, h.S, path)
	if err != nil {
		return watch, err
	}
	type node struct {
		data    []byte
		version int32
	}
	n, err := session.Call(ctx, h.S, func() (node, error) {
		data, stat, err := h.S.Conn.Get(path)
		if err != nil {
			return node{}, err
		}
		return node{data, stat.Version}, nil
	}, nil)
	if err != nil || string(n.data) != revokeData {
		return watch, err
	}
	h.mu.Lock()
	if !h.over && n.version > h.answered {
		h.asked, h.answered = true, n.version
		h.registry.revokeRequested(h.outermost)
		for id := range h.revoke {
			h.registry.post(func() { h.tell(id) })
		}
	}
	h.mu.Unlock()
	// A request that comes in between is not overwritten: the version differs.
	_, err = session.Call(ctx, h.S, func() (*zk.Stat, error) { return h.S.Conn.Set(path, h.Data, n.version) }, nil)
	if errors.Is(err, zk.ErrBadVersion) {
		err = nil
	}
	return watch, err
}
