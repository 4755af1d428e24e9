package targets

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// zkLockTarget is go-zookeeper's own zk.Lock, used as its documentation says.
// It is known to be unsafe: its holder is never told that its session ended, and a contender
// whose node is gone takes itself for the lowest.
type zkLockTarget struct{}

func (zkLockTarget) Name() string   { return "zk-lock" }
func (zkLockTarget) Recipe() string { return "mutex" }
func (zkLockTarget) Description() string {
	return "go-zookeeper's zk.Lock: no tokens, never tells of a loss"
}

// Promises returns no promises beyond those that every lock is judged by.
func (zkLockTarget) Promises(lock.Settings) histories.Promises { return histories.Promises{} }

func (zkLockTarget) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := lock.Connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return &zkLockClient{c}, nil
}

type zkLockClient struct{ *lock.Connection }

// Acquire uses a fresh zk.Lock each time: one that failed to unlock can never
// be used again.
func (c *zkLockClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l := &zkLockLease{c: c, lock: zk.NewLock(c.Conn(), c.Path(name), c.ACL())}
	if err := lock.AwaitDone(ctx, c.Connection, l.lock.Lock, func() { _ = l.unlock(context.Background()) }); err != nil {
		return nil, err
	}
	return l, nil
}

// TryAcquire does as users of zk.Lock, which cannot try, do: it checks whether the queue is
// empty, and queues if it is.
func (c *zkLockClient) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	queue, err := lock.Await(ctx, c.Connection, func() ([]string, error) {
		// The server may lag behind, and still have a node that was deleted.
		if _, err := c.Conn().Sync(c.Path(name)); err != nil {
			return nil, err
		}
		children, _, err := c.Conn().Children(c.Path(name))
		return children, err
	}, nil)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	if len(queue) > 0 {
		return nil, lock.ErrNotAcquired
	}
	return c.Acquire(ctx, name)
}

type zkLockLease struct {
	c    *zkLockClient
	lock *zk.Lock
}

func (*zkLockLease) Token() histories.Token { return histories.Token{} }
func (*zkLockLease) Lost() <-chan struct{}  { return nil }
func (*zkLockLease) Valid() bool            { return true }

func (l *zkLockLease) Release(ctx context.Context) error {
	err := lock.AwaitDone(ctx, l.c.Connection, func() error { return l.unlock(ctx) }, nil)
	if errors.Is(err, zk.ErrNoNode) {
		return errors.Join(lock.ErrLost, err)
	}
	return err
}

// unlock tries until it knows the outcome: zk.Lock leaves that to its caller.
func (l *zkLockLease) unlock(ctx context.Context) error { return l.c.UntilKnown(ctx, l.lock.Unlock) }
