package queue

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Contender is the engine under the recipes: it enqueues a node, waits for its
// turn and leaves. It belongs to one session and ends with it.
type Contender struct {
	S      *session.Session // that it belongs to
	q      *localQueue
	kind   string
	rule   Rule
	custom bool // the rule is the user's
	data   []byte
	acl    []zk.ACL
	guid   string
	Node   string // name of its node, once enqueued
	Zxid   int64  // the transaction that created it, or its writer's, once enqueued
	Sub    int32  // of its token

	before turn      // the last one at the queue when the create was sent
	asked  time.Time // when it was sent

	permits    sharing       // nil, unless it is a semaphore's
	downgraded bool          // a reader has been put behind this writer; locked by q
	atHead     bool          // it has had its turn, and no node was ahead; locked by q
	joined     int64         // lists up to this number may lack its node; locked by q
	woken      chan struct{} // capacity 1: what it waits for in the local queue has changed

	missing string           // a node that was listed and is not there any more
	pace    *session.Backoff // of looks for missing
}

// sharing is what the contenders of a semaphore have beyond others: one transaction
// may give permits to several of them. It is locked by the local queue.
type sharing interface {
	waitFor(own bool) // the contender waits for one of the same session, or does so no more
	given() bool      // a transaction includes the contender
	taking() bool     // and has not come to its end: it deletes the contender's node
}

// Entry is what a contender wants.
type Entry struct {
	Dir    string   // of the queue
	Kinds  []string // that stand in the queue
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

// Wait waits for the contender's turn; if block is false it returns
// ErrNotAcquired instead of waiting for others.
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

// awaitList waits for a list. The node that most likely has to be waited for after it is
// watched meanwhile: its holder may release it at once, and a watch that is set after the
// list would cost this contender another round trip. If the list tells that it has to wait
// for another one before, the watch is there when it is needed.
func (c *Contender) awaitList(ctx context.Context, v verdict) error {
	if v.next != "" {
		c.q.request()
		_, err := session.Watch(ctx, c.S, c.q.dir+"/"+v.next)
		if errors.Is(err, zk.ErrNoNode) {
			c.q.gone(v.next) // the list may have been made before
		} // what else is wrong, the list finds out
	}
	return c.q.list(ctx, v.list)
}

// TurnLasts is how long it is the contender's turn after Wait has returned. Later its node
// may have been deleted by others, and Wait has to be called again.
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

// awaitOther waits until the node of another session changes or goes, or until
// it is time to look again: after every reconnect, since a change may be missed
// there (kazoo #170), and by the clock, since a single watch is not to be trusted
// alone (ZOOKEEPER-3145). The node that will be waited for next, if there is one, is
// watched by the same request.
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
			c.q.outdated() // its data has changed, or another waiter has taken the event
		}
		return nil
	case <-c.woken: // its own node has gone
		return nil
	case <-linkChanged:
		c.q.outdated()
		return nil
	case <-again.C:
		c.S.WatchFired(watch) // the next one is set by a request of its own, whose answer says what is wrong
		return c.listAgain(ctx)
	case <-c.S.Ended:
		return session.ErrEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitAnybody waits until anybody joins or leaves the queue. It looks once more
// after the watch has been set: a change from before is not told.
func (c *Contender) awaitAnybody(ctx context.Context) error {
	defer c.q.stop(c, anybody)
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

// awaitAny waits until something that another session does has happened, or
// until it is time to look again, as awaitOther does.
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
	case <-c.woken: // its own node has gone, or another one that it may have waited for
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

// Ahead counts the contenders ahead, after a look at the queue if the contender is
// about to have one: who of other sessions is ahead is not known before.
func (c *Contender) Ahead(ctx context.Context) int {
	v, err := c.q.judge(c, true)
	switch {
	case err != nil: // the contender finds that out itself
	case v.list != 0:
		c.q.list(ctx, v.list)
	case v.any, v.own != "":
		c.q.stop(c, v.own) // it does not wait here
	}
	return c.q.ahead(c)
}

// listAgain has the queue listed, even if the local queue knows it.
func (c *Contender) listAgain(ctx context.Context) error {
	c.q.outdated()
	return c.q.list(ctx, c.q.nextList())
}

// Leave deletes the contender's node. Once ctx has ended that goes on in the background,
// until the node is gone or its session has ended.
func (c *Contender) Leave(ctx context.Context) {
	c.leaving()
	session.Remove(ctx, c.S, c.path(), c.gone)
}

// LeaveInBackground is Leave for callers that need not wait. The channel is closed when
// the node, or the session, is gone.
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

// Grant is what a lease stands on: nodes of one session.
type Grant struct {
	S       *session.Session // of the nodes
	Nodes   []string         // paths; the first is the lock node
	Zxid    int64            // of the token
	Sub     int32            // of the token
	Permits int              // 1 for other locks than semaphores

	// Release deletes the nodes, in order or because the lease is lost, and
	// returns when they or the session are gone: with zk.ErrNoNode when they had
	// been gone before. It is called once, from a goroutine of the session.
	Release func(lost bool) error

	Data  []byte // of the lock node, to be put back after a revocation
	place *Contender
}

// Grant is what a lease of the contender stands on.
func (c *Contender) Grant() Grant {
	return Grant{
		S: c.S, Nodes: []string{c.path()}, Zxid: c.Zxid, Sub: c.Sub, Permits: 1, Data: c.data, place: c,
		Release: func(bool) error {
			c.leaving()
			return session.RemoveHere(c.S, c.path(), c.gone)
		},
	}
}
