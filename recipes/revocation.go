package recipes

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// revokeData is what Curator's Revoker sets a lock node's data to.
const revokeData = "__REVOKE__"

// Revoke asks the holder of the lock node at path (see [Participant] and
// [Lease.Node]) to release the lock: Curator's Revoker.attemptRevoke. Nobody is
// forced: the holder's listeners are called, see [Lease.OnRevoke], and it is up
// to them. A node that still waits for its turn hears of the request when it has
// got the lock.
//
// A node that is gone is no error: there is nothing left to release. Errors:
// ctx's cause; [ErrBadPath], also when the node is not named as a lock's, since
// the request replaces its data; [ErrClosed]; errors of ZooKeeper such as
// zk.ErrNoAuth. The path is a whole one, as Participants and Node report it,
// also under WithNamespace.
func (c *Client) Revoke(ctx context.Context, path string) error {
	if err := checkPath(path); err != nil {
		return opError("revoke", path, err)
	}
	if _, ok := parsePlace(path[strings.LastIndexByte(path, '/')+1:], allKinds); !ok {
		return opError("revoke", path, ErrBadPath)
	}
	if ctx.Err() != nil {
		return opError("revoke", path, context.Cause(ctx))
	}
	for {
		s, err := c.session(ctx)
		if err != nil {
			return opError("revoke", path, err)
		}
		// Set again after a lost reply it is the same request.
		_, err = retry(ctx, s, func() (*zk.Stat, error) { return s.conn.Set(path, []byte(revokeData), -1) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !errors.Is(err, errSessionEnded):
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
	h := l.hold
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return l.onRevokeLocked(f)
}

// onRevokeLocked is OnRevoke with the session locked.
func (l *Lease) onRevokeLocked(f func(*Lease)) (stop func()) {
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
		h.client.notify.post(func() { h.tell(id) })
	}
	if !h.watched && !h.over && !h.s.over {
		h.watched = true
		h.s.wg.Go(h.watchRevocation)
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
	path := h.nodes[0]
	ctx, cancel := context.WithCancel(h.s.quit)
	defer cancel()
	h.s.wg.Go(func() { // ends with the hold, which does not outlive its session
		<-h.ended
		cancel()
	})
	for {
		_, linkChanged := h.s.linkState()
		watch, err := h.readRevocation(ctx, path)
		switch {
		case err == nil:
		case ctx.Err() != nil, answered(err):
			return // the heartbeat sees what has become of the node
		default:
			if h.s.awaitUp(ctx) != nil {
				return
			}
			continue
		}
		select {
		case <-watch.event:
			h.s.watch.fired(watch)
		case <-linkChanged:
		case <-ctx.Done():
			return
		case <-h.s.ended:
			return
		}
	}
}

// readRevocation sets a watch on the lock node's data, unless there is one, and
// then looks for a request in it.
func (h *hold) readRevocation(ctx context.Context, path string) (watched, error) {
	watch, err := h.s.watch.on(ctx, h.s, path)
	if err != nil {
		return watch, err
	}
	type node struct {
		data    []byte
		version int32
	}
	n, err := call(ctx, h.s, func() (node, error) {
		data, stat, err := h.s.conn.Get(path)
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
		if f := h.client.cfg.observer.RevokeRequested; f != nil {
			h.client.notify.post(func() { f(h.outermost) })
		}
		for id := range h.revoke {
			h.client.notify.post(func() { h.tell(id) })
		}
	}
	h.mu.Unlock()
	// A request that comes in between is not overwritten: the version differs.
	_, err = call(ctx, h.s, func() (*zk.Stat, error) { return h.s.conn.Set(path, h.data, n.version) }, nil)
	if errors.Is(err, zk.ErrBadVersion) {
		err = nil
	}
	return watch, err
}
