package recipes

import (
	"bytes"
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
		return c.failed(ctx, "revoke", path, err)
	}
	place, ok := queue.ParsePlace(path[strings.LastIndexByte(path, '/')+1:], queue.All)
	if !ok {
		return opError("revoke", path, ErrBadPath)
	}
	if ctx.Err() != nil {
		return opError("revoke", path, context.Cause(ctx))
	}
	if place.Kind == queue.Latch {
		err := c.sessions.Through(ctx, func(s *session.Session) error { return rewrite(ctx, s, path) })
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return c.failed(ctx, "revoke", path, err)
		}
		return nil
	}
	for {
		s, err := c.sessions.Get(ctx)
		if err != nil {
			return c.failed(ctx, "revoke", path, err)
		}
		// Set again after a lost reply it is the same request.
		_, err = session.Retry(ctx, s, func() (*zk.Stat, error) { return s.Conn.Set(path, []byte(revokeData), -1) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !errors.Is(err, session.ErrEnded):
			return c.failed(ctx, "revoke", path, err)
		}
	}
}

// rewrite writes a node with the data that it has: only its version changes, and watches on
// it fire. That is the request to the leader of an election, whose data its followers read.
func rewrite(ctx context.Context, s *session.Session, path string) error {
	unanswered := int32(-1) // the version that a write expected which was not answered
	for {
		n, err := readNode(ctx, s, path)
		if err != nil {
			return err
		}
		if unanswered >= 0 && n.version > unanswered {
			return nil // it was carried out, or another one was
		}
		_, err = session.Call(ctx, s, func() (*zk.Stat, error) { return s.Conn.Set(path, n.data, n.version) }, nil)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrBadVersion): // it has other data by now, perhaps
			continue
		case session.Answered(err), session.GaveUp(ctx, err):
			return err
		}
		unanswered = n.version
		if err := s.AwaitUp(ctx); err != nil {
			return err
		}
	}
}

// dataNode is what a node holds, and how often it has been written.
type dataNode struct {
	data    []byte
	version int32
}

func readNode(ctx context.Context, s *session.Session, path string) (dataNode, error) {
	return session.Retry(ctx, s, func() (dataNode, error) {
		data, stat, err := s.Conn.Get(path)
		if err != nil {
			return dataNode{}, err
		}
		return dataNode{data, stat.Version}, nil
	})
}

// OnRevoke calls f when somebody asks the holder to release the lock, also when
// that was before OnRevoke, and returns a function that takes f away again. It
// is called by the goroutine that calls the [Observer], once for each request;
// requests that come while one is being taken note of may be told as one. The
// data of the lock node is put back, so that participants see it again; that of a
// candidate of an [Election] has not changed.
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
	n, err := readNode(ctx, h.S, path)
	if err != nil || !h.isRequest(n) {
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
	if string(n.data) != revokeData {
		return watch, nil
	}
	h.answer(n.version + 1) // its own write is no request
	// A request that comes in between is not overwritten: the version differs.
	_, err = session.Call(ctx, h.S, func() (*zk.Stat, error) { return h.S.Conn.Set(path, h.Data, n.version) }, nil)
	if errors.Is(err, zk.ErrBadVersion) {
		h.answer(n.version)
		err = nil
	}
	return watch, err
}

// answer notes that a version of the node's data asks for nothing more.
func (h *hold) answer(version int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered = version
}

// isRequest reports whether what the node holds is a request to release: Curator's, or a
// rewrite of what the leader of an election announces. Others may have changed that: then
// the new data is what is rewritten, and put back after a request of Curator's.
func (h *hold) isRequest(n dataNode) bool {
	if string(n.data) == revokeData || h.key.kind != queue.Latch {
		return string(n.data) == revokeData
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !bytes.Equal(n.data, h.Data) {
		h.Data, h.answered = n.data, n.version
		return false
	}
	return n.version > h.answered
}
