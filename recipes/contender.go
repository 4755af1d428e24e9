package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// contender is the engine under the recipes: it enqueues a node, waits for its
// turn and leaves. It belongs to one session and ends with it.
type contender struct {
	s     *session
	dir   string // the lock's path
	name  string // what Curator calls the lock's name, "lock-"
	data  []byte
	guid  string
	node  string // name of its node, once enqueued
	token Token  // once seen in the queue
}

func newContender(s *session, dir, name string, data []byte) *contender {
	if data == nil {
		data = []byte{} // a null would be told apart by other clients
	}
	return &contender{s: s, dir: dir, name: name, data: data, guid: newGUID()}
}

func (c *contender) path() string { return c.dir + "/" + c.node }

// enqueue creates the contender's node. When it returns an error no node is
// left, or its deletion is under way.
func (c *contender) enqueue(ctx context.Context) error {
	prefix := c.dir + "/" + protectedName(c.guid, c.name)
	create := func() (string, error) {
		return c.s.conn.Create(prefix, c.data, zk.FlagEphemeralSequential, c.s.client.cfg.acl)
	}
	abandoned := func(path string, err error) {
		switch {
		case err == nil:
			c.s.deleteInBackground(path)
		case !answered(err) && !errors.Is(err, zk.ErrNoServer):
			c.s.deleteByGUID(c.dir, c.guid)
		}
	}
	for {
		path, err := call(ctx, c.s, create, abandoned)
		switch {
		case err == nil:
			c.enqueued(path)
			return nil
		case ctx.Err() != nil || errors.Is(err, errSessionEnded):
			return err // abandoned has the create
		case errors.Is(err, zk.ErrNoNode):
			if err := createParents(ctx, c.s, c.dir); err != nil {
				return err
			}
			continue
		case errors.Is(err, zk.ErrNoServer):
			if err := c.s.awaitUp(ctx); err != nil {
				return err
			}
			continue
		case answered(err):
			return err
		}
		// The connection broke: the node may be there or not. A second create
		// would leave a first one that blocks everybody (CURATOR-45), so look.
		path, err = findByGUID(ctx, c.s, c.dir, c.guid)
		if err != nil {
			c.s.deleteByGUID(c.dir, c.guid)
			return err
		}
		if path != "" {
			c.enqueued(path)
			return nil
		}
	}
}

func (c *contender) enqueued(path string) {
	c.node = path[strings.LastIndexByte(path, '/')+1:]
	c.s.track(c.path())
}

// findByGUID returns the path of the node with this guid, or "" if there is
// none and none can appear. A session's requests reach the leader in order and
// a request that the session sent through another server is refused once the
// session has moved, so that after a sync the list is final, also on a server
// that lagged behind (CURATOR-264).
func findByGUID(ctx context.Context, s *session, dir, guid string) (string, error) {
	for {
		if err := s.awaitUp(ctx); err != nil {
			return "", err
		}
		_, err := call(ctx, s, func() (string, error) { return s.conn.Sync(dir) }, nil)
		if err == nil {
			var children []string
			children, err = call(ctx, s, func() ([]string, error) {
				children, _, err := s.conn.Children(dir)
				return children, err
			}, nil)
			if err == nil {
				for _, child := range children {
					if strings.HasPrefix(child, protectedName(guid, "")) {
						return dir + "/" + child, nil
					}
				}
				return "", nil
			}
		}
		if errors.Is(err, zk.ErrNoNode) {
			return "", nil
		}
		if answered(err) || ctx.Err() != nil {
			return "", err
		}
	}
}

// turn looks at the queue once: it returns "" when it is the contender's turn,
// else the path of the node to wait for. ahead counts those before it.
func (c *contender) turn(ctx context.Context) (blocker string, ahead int, err error) {
	stat := make(chan error, 1)
	if c.token.IsZero() {
		// Both reads travel together.
		if !c.s.spawn(func() { stat <- c.identify(ctx) }) {
			return "", 0, errSessionEnded
		}
	} else {
		stat <- nil
	}
	children, err := retry(ctx, c.s, func() ([]string, error) {
		children, _, err := c.s.conn.Children(c.dir)
		return children, err
	})
	if serr := <-stat; err == nil {
		err = serr
	}
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return "", 0, errNodeGone
	case err != nil:
		return "", 0, err
	}
	entries := queue(children, c.name)
	for i, e := range entries {
		if e.name == c.node {
			if i == 0 {
				return "", 0, nil
			}
			return c.dir + "/" + entries[i-1].name, i, nil
		}
	}
	// Not in the list is not first in it (zk.Lock grants twice here).
	return "", 0, errNodeGone
}

// identify learns the token and makes sure that the node is this session's: a
// node that a dying session made must not be adopted (CURATOR-498).
func (c *contender) identify(ctx context.Context) error {
	stat, err := retry(ctx, c.s, func() (*zk.Stat, error) {
		ok, stat, err := c.s.conn.Exists(c.path())
		if err == nil && !ok {
			err = zk.ErrNoNode
		}
		return stat, err
	})
	if err != nil {
		return err
	}
	if stat.EphemeralOwner != c.s.id {
		return fmt.Errorf("%w: it belongs to session 0x%x", errNodeGone, stat.EphemeralOwner)
	}
	c.token = Token{Zxid: stat.Czxid}
	return nil
}

// await waits until the node at path changes or goes, or until it is time to
// look again: after every reconnect, since a change may be missed there
// (kazoo #170), and once a session timeout, since a single watch is not to be
// trusted alone (ZOOKEEPER-3145).
func (c *contender) await(ctx context.Context, path string) error {
	up, linkChanged := c.s.linkState()
	if !up {
		return c.s.awaitUp(ctx)
	}
	event, err := c.s.watch.on(ctx, c.s, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil // gone between list and watch (helix #44)
	case err != nil && answered(err), err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return c.s.awaitUp(ctx)
	}
	c.s.mu.Lock()
	timeout := c.s.timeout
	c.s.mu.Unlock()
	again := time.NewTimer(timeout)
	defer again.Stop()
	select {
	case <-event:
		c.s.watch.fired(path, event)
		return nil
	case <-linkChanged:
		return nil
	case <-again.C:
		return nil
	case <-c.s.ended:
		return errSessionEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave deletes the contender's node. It returns nil when the node is gone,
// zk.ErrNoNode when the first try found no node, and otherwise what ended the
// wait for it; then the deletion goes on in the background until the node is
// gone or its session has ended (CURATOR-79, kazoo #732).
func (c *contender) leave(ctx context.Context) error {
	path := c.path()
	c.s.untrack(path)
	abandoned := func(_ struct{}, err error) {
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			c.s.deleteInBackground(path)
		}
	}
	_, err := call(ctx, c.s, func() (struct{}, error) { return struct{}{}, c.s.conn.Delete(path, -1) }, abandoned)
	switch {
	case err == nil, errors.Is(err, zk.ErrNoNode), errors.Is(err, errSessionEnded), ctx.Err() != nil:
		return err
	}
	done := c.s.deleteInBackground(path)
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
