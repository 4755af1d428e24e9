package workload

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
)

// zkLockTarget is go-zookeeper's own zk.Lock, used as its documentation says.
// It is known to be unsafe: its holder is never told that its session ended,
// and a contender whose node is gone counts itself as the lowest.
type zkLockTarget struct{}

func (zkLockTarget) Name() string   { return "zk-lock" }
func (zkLockTarget) Recipe() string { return "mutex" }
func (zkLockTarget) Description() string {
	return "go-zookeeper's zk.Lock: no tokens, never tells of a loss"
}

func (zkLockTarget) Promises(s Settings) histories.Promises {
	return histories.Promises{ProgressBound: progressBound(s)}
}

func (zkLockTarget) Open(ctx context.Context, env Env) (Client, error) {
	c, err := openStock(ctx, env)
	if err != nil {
		return nil, err
	}
	return &zkLockClient{c}, nil
}

type zkLockClient struct{ *stockClient }

// Acquire uses a fresh zk.Lock each time: one that failed to unlock can never
// be used again.
func (c *zkLockClient) Acquire(ctx context.Context, lock string) (Lease, error) {
	l := zk.NewLock(c.conn, c.path(lock), c.env.Auth.ACL())
	_, err := await(ctx, c.stockClient, func() (struct{}, error) { return struct{}{}, l.Lock() },
		func(struct{}) { _ = c.unlock(l, nil) })
	if err != nil {
		return nil, err
	}
	return &zkLockLease{c: c, lock: l}, nil
}

// TryAcquire does what users of zk.Lock do, which cannot try: it looks whether
// anybody is in the queue, and queues if nobody is.
func (c *zkLockClient) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	queue, err := await(ctx, c.stockClient, func() ([]string, error) {
		children, _, err := c.conn.Children(c.path(lock))
		return children, err
	}, func([]string) {})
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	if len(queue) > 0 {
		return nil, ErrNotAcquired
	}
	return c.Acquire(ctx, lock)
}

type zkLockLease struct {
	c    *zkLockClient
	lock *zk.Lock
}

func (*zkLockLease) Token() histories.Token { return histories.Token{} }
func (*zkLockLease) Lost() <-chan struct{}  { return nil }
func (*zkLockLease) Valid() bool            { return true }

func (l *zkLockLease) Release(ctx context.Context) error {
	_, err := await(ctx, l.c.stockClient, func() (struct{}, error) { return struct{}{}, l.c.unlock(l.lock, ctx.Done()) }, func(struct{}) {})
	if errors.Is(err, zk.ErrNoNode) {
		return errors.Join(ErrLost, err)
	}
	return err
}

// unlock tries until it knows: zk.Lock leaves that to its caller.
func (c *zkLockClient) unlock(l *zk.Lock, giveUp <-chan struct{}) error {
	return c.untilKnown(l.Unlock, giveUp)
}
