// Package mylock is an example of a lock of your own that package verify and
// zkverify put through faults: zk.Lock of go-zookeeper, made a lock.Target by
// exported names alone. Copy it, and put your lock in the place of zk.Lock.
package mylock

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// Target is the lock as a run sees it.
type Target struct{}

func (Target) Name() string        { return "my-lock" }
func (Target) Description() string { return "zk.Lock, as an example of a lock of your own" }
func (Target) Recipe() string      { return "mutex" }

// Promises says what the lock is held to besides mutual exclusion and progress:
// fencing tokens, loss notification, first come first served. This one has none.
func (Target) Promises(lock.Settings) histories.Promises { return histories.Promises{} }

// Open starts a client: what an application has one of. Connect gives it Conn,
// Crash and Close.
func (Target) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := lock.Connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return &client{c}, nil
}

type client struct{ *lock.Connection }

// Acquire waits for the lock until ctx ends. Lock knows no context, so AwaitDone
// waits for it, and gives back what comes too late.
func (c *client) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l := &lease{c, zk.NewLock(c.Conn(), c.Path(name), c.ACL())}
	late := func() { _ = l.Release(context.Background()) }
	if err := lock.AwaitDone(ctx, c.Connection, l.lock.Lock, late); err != nil {
		return nil, err
	}
	return l, nil
}

// TryAcquire queues if the queue is empty: zk.Lock itself cannot try.
func (c *client) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	look := func() (queue []string, err error) {
		// The server may lag behind, and still have a node that was deleted.
		if _, err := c.Conn().Sync(c.Path(name)); err != nil {
			return nil, err
		}
		queue, _, err = c.Conn().Children(c.Path(name))
		return queue, err
	}
	queue, err := lock.Await(ctx, c.Connection, look, nil)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	if len(queue) > 0 {
		return nil, lock.ErrNotAcquired
	}
	return c.Acquire(ctx, name)
}

type lease struct {
	c    *client
	lock *zk.Lock
}

// Token is the fencing token, and Lost is closed when the lock is lost. zk.Lock has
// neither, and its holder can only believe that the lock is still valid.
func (l *lease) Token() histories.Token { return histories.Token{} }
func (l *lease) Lost() <-chan struct{}  { return nil }
func (l *lease) Valid() bool            { return true }

// Release tries until it knows that the lock is free. A node that is gone already
// went with its session: the lock was lost before.
func (l *lease) Release(ctx context.Context) error {
	unlock := func() error { return l.c.UntilKnown(ctx, l.lock.Unlock) }
	err := lock.AwaitDone(ctx, l.c.Connection, unlock, nil)
	if errors.Is(err, zk.ErrNoNode) {
		return errors.Join(lock.ErrLost, err)
	}
	return err
}
