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

// revokeData is the data that Curator's Revoker writes to a lock node.
const revokeData = "__REVOKE__"

// Revoke asks the holder of the lock node at path, as Participants and [Lease.Node] report it, to
// release the lock: Curator's Revoker.attemptRevoke. The holder's client calls the listeners, see
// [Lease.OnRevoke], and they decide; that of a node that still waits calls them when it has
// acquired the lock.
//
// Revoke returns nil if the node is gone, since there is no lock left to release. It returns
// [ErrBadPath] also when the node's name is not that of a lock node, since the request replaces the
// node's data.
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
		// A repetition after a lost reply is the same request.
		_, err = session.Retry(ctx, s, func() (*zk.Stat, error) { return s.Conn.Set(path, []byte(revokeData), -1) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !errors.Is(err, session.ErrEnded):
			return c.failed(ctx, "revoke", path, err)
		}
	}
}

// rewrite writes a node's own data again: only its version changes, and watches on it fire. This
// is the request to the leader of an election, whose data the other candidates read. It asks the
// leader of the servers first: a server that lags behind may show a version from before an older
// request, which would then count as this one after a lost reply.
func rewrite(ctx context.Context, s *session.Session, path string) error {
	if stands, err := session.Stands(ctx, s, path); err != nil || !stands {
		return err
	}
	unanswered, wrote := int32(-1), []byte(nil) // the version that an unanswered write expected, and its data
	for {
		n, err := readNode(ctx, s, path)
		if err != nil {
			return err
		}
		if unanswered >= 0 && n.version > unanswered && bytes.Equal(n.data, wrote) {
			return nil // this request or another client's was carried out
		}
		_, err = session.Call(ctx, s, func() (*zk.Stat, error) { return s.Conn.Set(path, n.data, n.version) }, nil)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrBadVersion): // its data may have changed
			continue
		case session.Answered(err), session.GaveUp(ctx, err):
			return err
		}
		unanswered, wrote = n.version, n.data
		if err := s.AwaitUp(ctx); err != nil {
			return err
		}
	}
}

// dataNode holds a node's data and its version, which counts the writes.
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

// OnRevoke calls f when another client asks the holder to release the lock, also for a request from
// before OnRevoke, and returns a function that removes f. The goroutine that calls the [Observer]
// calls f once for each request; requests that come while the client handles one may be reported as
// one. The client restores the data of the lock node; a request does not change the data of a
// candidate of an [Election].
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

// watchRevocation watches the data of the lock node from the first listener to the end of the
// hold. It reads the data before it waits, so that it sees a request from before the watch. The
// hold owns its goroutine.
func (h *hold) watchRevocation() {
	path := h.Nodes[0]
	ctx, cancel := context.WithCancel(h.S.Quit)
	defer cancel()
	if !h.S.Spawn(func() { // this goroutine ends with the hold, which does not outlive its session
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
			return // the heartbeat finds out about the node
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

// readRevocation sets a watch on the lock node's data, unless there is one, and then looks for a
// request in the data.
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
	last := h.answered
	if string(n.data) == revokeData {
		last = h.told // the holder never writes a request: this is none of its own writes
	}
	if !h.over && n.version > last {
		h.asked, h.answered, h.told = true, n.version, n.version
		h.registry.revokeRequested(h.outermost)
		for id := range h.revoke {
			h.registry.post(func() { h.tell(id) })
		}
	}
	h.mu.Unlock()
	if string(n.data) != revokeData {
		return watch, nil
	}
	h.mu.Lock()
	h.answered = n.version + 1 // the holder's own write is not a request, also if its reply is lost
	h.mu.Unlock()
	// A request that comes in between is not overwritten, because the version differs.
	_, err = session.Call(ctx, h.S, func() (*zk.Stat, error) { return h.S.Conn.Set(path, h.Data, n.version) }, nil)
	if errors.Is(err, zk.ErrBadVersion) {
		err = nil // look again
	}
	return watch, err
}

// isRequest reports whether the node's data is a request to release: Curator's, or a rewrite of
// the data that the leader of an election announces. If another client has changed that data, a
// rewrite of the new data is a request, and the new data is restored after a request of
// Curator's.
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
