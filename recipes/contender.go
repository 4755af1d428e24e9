package recipes

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// contender is the engine under the recipes: it enqueues a node, waits for its
// turn and leaves. It belongs to one session and ends with it.
type contender struct {
	s      *session
	q      *line
	kind   string
	rule   GrantRule
	custom bool // the rule is the user's
	data   []byte
	acl    []zk.ACL
	guid   string
	node   string // name of its node, once enqueued
	token  Token  // once enqueued

	asks       *asks         // for permits of a semaphore
	downgraded bool          // a reader has been put behind this writer; locked by q
	joined     int64         // lists up to this number may lack its node; locked by q
	woken      chan struct{} // capacity 1: what it waits for in the line has changed
}

func newContender(s *session, dir string, kinds []string, kind string, rule GrantRule, cfg lockConfig) *contender {
	c := &contender{
		s: s, q: s.line(dir, kinds), kind: kind, rule: rule, custom: cfg.rule != nil, data: cfg.data, acl: cfg.acl,
		guid: newGUID(), woken: make(chan struct{}, 1),
	}
	if c.data == nil {
		c.data = []byte{} // a null would be told apart by other clients
	}
	if c.acl == nil {
		c.acl = s.client.cfg.acl
	}
	return c
}

func (c *contender) path() string { return c.q.dir + "/" + c.node }

func (c *contender) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// enqueue creates the contender's node and asks for the queue in the same
// breath. When it returns an error no node is left, or its deletion is under
// way.
func (c *contender) enqueue(ctx context.Context) error {
	prefix := c.q.dir + "/" + protectedName(c.guid, c.kind)
	first := true
	return c.create(ctx, func() (string, error) {
		if first && c.q.empty() {
			c.q.request() // behind the create in nearly every case; harmless before it
		}
		first = false
		return c.s.conn.Create(prefix, c.data, zk.FlagEphemeralSequential, c.acl)
	})
}

// create makes the contender's node by a request that returns its path.
func (c *contender) create(ctx context.Context, request func() (string, error)) error {
	c.s.expectZxid(c.guid)
	err := enqueueAll(ctx, c.s, []*contender{c}, func() ([]string, error) {
		path, err := request()
		return []string{path}, err
	})
	if err != nil {
		c.s.takeZxid(c.guid)
		c.s.leaveLine(c.q)
	}
	return err
}

// enqueueAll makes the nodes of contenders of one session by one request, which
// either makes them all or none, and returns their paths.
func enqueueAll(ctx context.Context, s *session, all []*contender, request func() ([]string, error)) error {
	abandoned := func(paths []string, err error) {
		for i, c := range all {
			switch {
			case err == nil:
				s.deleteInBackground(paths[i], c.settled)
			case !answered(err) && !errors.Is(err, zk.ErrNoServer):
				s.deleteByGUID(c.q.dir, c.guid, c.settled)
			default:
				c.settled() // nothing was made
			}
		}
	}
	giveUp := func() {
		for _, c := range all {
			s.givenUp.add(c.guid)
		}
	}
	for {
		paths, err := call(ctx, s, request, abandoned)
		switch {
		case err == nil:
			token := Token{Zxid: s.takeZxid(all[0].guid)}
			if token.IsZero() { // its path is too long for the tap
				if token, err = identify(ctx, s, paths[0]); err != nil {
					giveUp()
					abandoned(paths, nil)
					return err
				}
			}
			for i, c := range all {
				c.enqueued(paths[i], token)
			}
			return nil
		case errors.Is(err, errSessionEnded), gaveUp(ctx, err):
			giveUp()
			return err // abandoned has the create
		case errors.Is(err, zk.ErrNoNode):
			for _, c := range all {
				if err := createParents(ctx, s, c.q.dir); err != nil {
					return err
				}
			}
			continue
		case errors.Is(err, zk.ErrNoServer):
			if err := s.awaitUp(ctx); err != nil {
				return err
			}
			continue
		case answered(err):
			return err
		}
		// The connection broke: the nodes may be there or not. A second create
		// would leave a first one that blocks everybody (CURATOR-45), so look.
		found, err := findContenders(ctx, s, all)
		if found || err != nil {
			return err
		}
	}
}

func (c *contender) enqueued(path string, token Token) {
	c.node, c.token = path[strings.LastIndexByte(path, '/')+1:], token
	c.s.track(c.path())
	c.q.join(c)
}

// wait waits for the contender's turn; if block is false it returns
// ErrNotAcquired instead of waiting for others.
func (c *contender) wait(ctx context.Context, block bool) error {
	for {
		v, err := c.q.judge(c, block)
		switch {
		case err != nil:
			return err
		case v.granted:
			return nil
		case v.list != 0:
			err = c.q.list(ctx, v.list)
		case !block:
			c.q.stop(c, v.own)
			return ErrNotAcquired
		case v.any:
			err = c.awaitAnybody(ctx)
		case v.own != "":
			err = c.awaitOwn(ctx, v.own)
		default:
			err = c.awaitOther(ctx, v.other)
		}
		if err != nil {
			return err
		}
	}
}

// awaitOwn waits until a node of this session goes. The line hears of that from
// whoever deletes it, and from every list.
func (c *contender) awaitOwn(ctx context.Context, node string) error {
	defer c.q.stop(c, node)
	select {
	case <-c.woken:
		return nil
	case <-c.s.ended:
		return errSessionEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitOther waits until the node of another session changes or goes, or until
// it is time to look again: after every reconnect, since a change may be missed
// there (kazoo #170), and once a session timeout, since a single watch is not to
// be trusted alone (ZOOKEEPER-3145).
func (c *contender) awaitOther(ctx context.Context, node string) error {
	up, linkChanged := c.s.linkState()
	if !up {
		c.q.outdated()
		return c.s.awaitUp(ctx)
	}
	path := c.q.dir + "/" + node
	watch, err := c.s.watch.on(ctx, c.s, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		c.q.gone(node) // between list and watch (helix #44)
		return nil
	case err != nil && answered(err):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		c.q.outdated()
		return c.s.awaitUp(ctx)
	}
	again := time.NewTimer(c.s.currentTimeout())
	defer again.Stop()
	select {
	case e := <-watch.event:
		c.s.watch.fired(watch)
		if e.Type == zk.EventNodeDeleted {
			c.q.gone(node)
		} else {
			c.q.outdated() // its data has changed, or another waiter has taken the event
		}
		return nil
	case <-c.woken: // its own node has gone
		return nil
	case <-linkChanged:
		c.q.outdated()
		return nil
	case <-again.C:
		return c.look(ctx)
	case <-c.s.ended:
		return errSessionEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitAnybody waits until anybody joins or leaves the queue. It looks once more
// after the watch has been set: a change from before is not told.
func (c *contender) awaitAnybody(ctx context.Context) error {
	defer c.q.stop(c, anybody)
	watch, _, err := c.s.watch.onChildren(ctx, c.s, c.q.dir)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return errNodeGone
	case err != nil && answered(err):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.s.awaitUp(ctx)
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	if v, err := c.q.judge(c, true); err != nil || v.granted {
		return err
	}
	c.q.outdated()
	return c.awaitAny(ctx, []watched{watch})
}

// awaitAny waits until something that another session does has happened, or
// until it is time to look again, as awaitOther does.
func (c *contender) awaitAny(ctx context.Context, watches []watched) error {
	up, linkChanged := c.s.linkState()
	if !up {
		return c.s.awaitUp(ctx)
	}
	var first, second watched // a nil channel is never readable
	switch len(watches) {
	case 0:
		return nil // look again, with watches
	case 1:
		first = watches[0]
	default:
		first, second = watches[0], watches[1]
	}
	again := time.NewTimer(c.s.currentTimeout())
	defer again.Stop()
	select {
	case <-first.event:
		c.s.watch.fired(first)
	case <-second.event:
		c.s.watch.fired(second)
	case <-c.woken: // its own node has gone, or another one that it may have waited for
		if !c.q.has(c) {
			return errNodeGone
		}
	case <-linkChanged:
	case <-again.C:
		return c.look(ctx)
	case <-c.s.ended:
		return errSessionEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// look has the queue listed, whatever the line believes to know.
func (c *contender) look(ctx context.Context) error {
	c.q.outdated()
	return c.q.list(ctx, c.q.nextList())
}

// leave deletes the contender's node. It returns nil when the node is gone,
// zk.ErrNoNode when the first try found no node, and otherwise what ended the
// wait for it; then the deletion goes on in the background until the node is
// gone or its session has ended (CURATOR-79, kazoo #732).
func (c *contender) leave(ctx context.Context) error {
	c.leaving()
	return c.s.remove(ctx, c.path(), c.gone)
}

// leaveInBackground is leave for who need not wait: until the channel is closed.
func (c *contender) leaveInBackground() <-chan struct{} {
	c.leaving()
	return c.s.deleteInBackground(c.path(), c.gone)
}

// leaving is called before the contender's node is deleted.
func (c *contender) leaving() {
	c.s.untrack(c.path())
	c.q.leaving(c)
}

// gone is called when the contender's node is known to be deleted.
func (c *contender) gone() {
	c.q.gone(c.node)
	c.s.leaveLine(c.q)
}
