package queue

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Contender is the engine under the recipes: it enqueues a node, waits for its turn and
// leaves. It belongs to one session and ends with it.
type Contender struct {
	S      *session.Session // that the contender belongs to
	q      *localQueue
	kind   string
	rule   Rule
	custom bool // the rule is the user's
	data   []byte
	acl    []zk.ACL
	guid   string
	Node   string // name of its node, once enqueued
	Zxid   int64  // of the transaction that created the node, or its writer's, once enqueued
	Sub    int32  // of the token

	before turn      // the last turn at the queue when the create was sent
	asked  time.Time // when the create was sent

	permits    sharing       // nil unless the queue is a semaphore's
	downgraded bool          // a reader has been put behind this writer; locked by q
	atHead     bool          // the contender has had its turn, and no node was ahead; locked by q
	joined     int64         // lists up to this number may lack the node; locked by q
	woken      chan struct{} // capacity 1: the node that it waits for in the local queue has changed

	missing string           // a node that was listed and is gone
	pace    *session.Backoff // of the looks for missing
}

// sharing holds the additional state of the contenders of a semaphore: one transaction may
// give permits to several of them. It is locked by the local queue.
type sharing interface {
	waitFor(own bool) // the contender waits for one of the same session, or has stopped waiting
	given() bool      // a transaction includes the contender
	taking() bool     // the transaction is under way: it deletes the contender's node
}

// Entry describes a contender to be created.
type Entry struct {
	Dir    string   // of the queue
	Kinds  []string // of the nodes in the queue
	Kind   string   // of its node
	Rule   Rule
	Custom bool // the rule is the user's
	Data   []byte
	ACL    []zk.ACL
}

// NewContender returns a contender of a session. One of its Enqueue methods, or
// EnqueueTogether, must follow.
func NewContender(s *session.Session, e Entry) *Contender {
	return &Contender{
		S: s, q: localQueueOf(s, e.Dir, e.Kinds), kind: e.Kind, rule: e.Rule, custom: e.Custom, data: e.Data, acl: e.ACL,
		guid: session.NewGUID(), woken: make(chan struct{}, 1),
	}
}

func (c *Contender) path() string { return c.q.dir + "/" + c.Node }

func (c *Contender) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// Wait waits for the contender's turn; if block is false it returns ErrNotAcquired instead
// of waiting for others.
func (c *Contender) Wait(ctx context.Context, block bool) error {
	for {
		v, err := c.q.judge(c, block)
		switch {
		case err != nil:
			return err
		case v.granted:
			return nil
		case v.list != 0:
			err = c.awaitList(ctx, v)
		case !block:
			c.q.stop(c, v.own)
			return ErrNotAcquired
		case v.any:
			err = c.awaitAnybody(ctx)
		case v.own != "":
			err = c.awaitOwn(ctx, v.own)
		default:
			err = c.awaitOther(ctx, v.other, v.next)
		}
		if err != nil {
			return err
		}
	}
}

// awaitList waits for a list. Meanwhile it watches the node that the contender most likely
// has to wait for next: the holder may release the lock at once, and a watch that is set
// after the list would cost this contender another round trip. If the list shows that the
// contender has to wait for another node first, the watch is set when it is needed.
func (c *Contender) awaitList(ctx context.Context, v verdict) error {
	if v.next != "" {
		c.q.request()
		_, err := session.Watch(ctx, c.S, c.q.dir+"/"+v.next)
		if errors.Is(err, zk.ErrNoNode) {
			c.q.gone(v.next) // the list may be from before
		} // the list finds any other error
	}
	return c.q.list(ctx, v.list)
}

// TurnLasts returns the duration of the contender's turn after Wait has returned. Later
// another client may have deleted its node, and Wait has to be called again.
func (c *Contender) TurnLasts() time.Duration { return c.q.lookAgain() }

// awaitOwn waits until a node of this session goes, or until it is time to look again. The
// code that deletes a node tells the local queue, and so does every list.
func (c *Contender) awaitOwn(ctx context.Context, node string) error {
	defer c.q.stop(c, node)
	again := time.NewTimer(c.q.lookAgain())
	defer again.Stop()
	select {
	case <-c.woken:
		return nil
	case <-again.C:
		return c.listAgain(ctx)
	case <-c.S.Ended:
		return session.ErrEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitOther waits until the node of another session changes or goes, or until it is time
// to look again: after every reconnect, since a change may be missed there (kazoo #170),
// and after a time, since a single watch is not to be trusted alone (ZOOKEEPER-3145). The
// same request watches the node that the contender will wait for next, if there is one.
func (c *Contender) awaitOther(ctx context.Context, node, next string) error {
	up, linkChanged := c.S.LinkState()
	if !up {
		c.q.outdated()
		return c.S.AwaitUp(ctx)
	}
	path := c.q.dir + "/" + node
	if next != "" {
		if err := session.WatchTogether(ctx, c.S, path, c.q.dir+"/"+next); err != nil {
			return err
		}
	}
	watch, err := session.Watch(ctx, c.S, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		c.q.gone(node) // between list and watch (helix #44)
		if c.missing != node {
			c.missing, c.pace = node, session.Changed()
		}
		return c.pace.Wait(ctx, c.S)
	case err != nil && session.Answered(err):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		c.q.outdated()
		return c.S.AwaitUp(ctx)
	}
	again := time.NewTimer(c.q.lookAgain())
	defer again.Stop()
	select {
	case e := <-watch.Event:
		c.S.WatchFired(watch)
		if e.Type == zk.EventNodeDeleted {
			c.q.gone(node)
		} else {
			c.q.outdated() // the node's data has changed, or another waiter has taken the event
		}
		return nil
	case <-c.woken: // its own node has gone
		return nil
	case <-linkChanged:
		c.q.outdated()
		return nil
	case <-again.C:
		c.S.WatchFired(watch) // the next watch is set by a request of its own, whose answer has the error
		return c.listAgain(ctx)
	case <-c.S.Ended:
		return session.ErrEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitAnybody waits until a contender joins or leaves the queue. It lists once more after
// the watch has been set: the watch does not tell of earlier changes.
func (c *Contender) awaitAnybody(ctx context.Context) error {
	defer c.q.stop(c, anyChange)
	watch, _, err := session.WatchChildren(ctx, c.S, c.q.dir)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return session.ErrNodeGone
	case err != nil && session.Answered(err):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.S.AwaitUp(ctx)
	}
	if err := c.listAgain(ctx); err != nil {
		return err
	}
	if v, err := c.q.judge(c, true); err != nil || v.granted {
		return err
	}
	c.q.outdated()
	return c.awaitAny(ctx, []session.Watched{watch})
}

// awaitAny waits until one of the watches fires, or until it is time to look again, as
// awaitOther does.
func (c *Contender) awaitAny(ctx context.Context, watches []session.Watched) error {
	up, linkChanged := c.S.LinkState()
	if !up {
		return c.S.AwaitUp(ctx)
	}
	var first, second session.Watched // a nil channel is never readable
	switch len(watches) {
	case 0:
		return nil // look again, with watches
	case 1:
		first = watches[0]
	default:
		first, second = watches[0], watches[1]
	}
	again := time.NewTimer(c.q.lookAgain())
	defer again.Stop()
	select {
	case <-first.Event:
		c.S.WatchFired(first)
	case <-second.Event:
		c.S.WatchFired(second)
	case <-c.woken: // its own node is gone, or a node that it may have waited for
		if !c.q.has(c) {
			return session.ErrNodeGone
		}
	case <-linkChanged:
	case <-again.C:
		return c.listAgain(ctx)
	case <-c.S.Ended:
		return session.ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Ahead counts the contenders ahead. It lists the queue before if the contender is about to
// do so: until then the contenders of other sessions are not known.
func (c *Contender) Ahead(ctx context.Context) int {
	v, err := c.q.judge(c, true)
	switch {
	case err != nil: // the contender finds that out itself
	case v.list != 0:
		c.q.list(ctx, v.list)
	case v.any, v.own != "":
		c.q.stop(c, v.own) // the contender does not wait here
	}
	return c.q.ahead(c)
}

// listAgain lists the queue, even if the local queue is up to date.
func (c *Contender) listAgain(ctx context.Context) error {
	c.q.outdated()
	return c.q.list(ctx, c.q.nextList())
}

// Leave deletes the contender's node. When ctx ends first, the deletion goes on in the
// background, until the node is gone or its session has ended.
func (c *Contender) Leave(ctx context.Context) {
	c.leaving()
	session.Remove(ctx, c.S, c.path(), c.gone)
}

// LeaveInBackground is Leave for callers that need not wait. The channel is closed when the
// node is gone or the session has ended.
func (c *Contender) LeaveInBackground() <-chan struct{} {
	c.leaving()
	return session.DeleteInBackground(c.S, c.path(), c.gone)
}

// leaving is called before the contender's node is deleted.
func (c *Contender) leaving() {
	c.S.Untrack(c.path())
	c.q.leaving(c)
}

// gone is called when the contender's node is known to be deleted.
func (c *Contender) gone() {
	c.q.gone(c.Node)
	c.q.lines.turnEnded(c)
	c.q.exit()
}

// Grant holds the nodes on which a lease stands. They belong to one session.
type Grant struct {
	S       *session.Session // of the nodes
	Nodes   []string         // paths; the first is the lock node
	Zxid    int64            // of the token
	Sub     int32            // of the token
	Permits int              // 1 for other locks than semaphores

	// Release deletes the nodes, after a release or because the lease is lost. It returns
	// when they are gone or the session has ended, with zk.ErrNoNode when they had been
	// gone before. It is called once, from a goroutine of the session.
	Release func(lost bool) error

	Data  []byte // of the lock node, to be put back after a revocation
	place *Contender
}

// Grant returns the grant of a lease of the contender.
func (c *Contender) Grant() Grant {
	return Grant{
		S: c.S, Nodes: []string{c.path()}, Zxid: c.Zxid, Sub: c.Sub, Permits: 1, Data: c.data, place: c,
		Release: func(bool) error {
			c.leaving()
			return session.RemoveHere(c.S, c.path(), c.gone)
		},
	}
}
