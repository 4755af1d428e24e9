package targets

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// naiveTarget is the lock of every first attempt: the client that creates the one ephemeral
// node has the lock, all others watch it. It is exclusive as long as sessions live. Each
// release wakes every waiter, and the next holder is a matter of luck.
type naiveTarget struct{}

func (naiveTarget) Name() string   { return "naive" }
func (naiveTarget) Recipe() string { return "mutex" }
func (naiveTarget) Description() string {
	return "the textbook lock of one ephemeral node that everybody watches: no order, a herd at each release"
}

func (naiveTarget) Promises(lock.Settings) histories.Promises {
	return histories.Promises{}
}

func (naiveTarget) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := lock.Connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return &naiveClient{c}, nil
}

type naiveClient struct{ *lock.Connection }

func (c *naiveClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.acquire(ctx, name, true)
}

func (c *naiveClient) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.acquire(ctx, name, false)
}

func (c *naiveClient) acquire(ctx context.Context, name string, wait bool) (lock.Lease, error) {
	node := c.Path(name)
	err := lock.AwaitDone(ctx, c.Connection, func() error { return c.contend(ctx, node, wait) },
		func() { _ = c.Delete(context.Background(), node) })
	if err != nil {
		return nil, err
	}
	return &nodeLease{client: c.Connection, node: node}, nil
}

func (c *naiveClient) contend(ctx context.Context, node string, wait bool) error {
	for {
		session := c.Conn().SessionID()
		_, err := c.Conn().Create(node, nil, zk.FlagEphemeral, c.ACL())
		if err == nil {
			return nil
		}
		if !errors.Is(err, zk.ErrNodeExists) {
			// The create may have been carried out: delete the node if it is this session's,
			// since it would block all others until the session ends.
			c.disown(ctx, node, session)
			return err
		}
		if !wait {
			return lock.ErrNotAcquired
		}
		there, _, gone, err := c.Conn().ExistsW(node)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		select {
		case e := <-gone:
			if e.Err != nil {
				return e.Err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// disown deletes the node if it is this session's.
func (c *naiveClient) disown(ctx context.Context, node string, session int64) {
	_ = c.UntilKnown(ctx, func() error {
		there, stat, err := c.Conn().Exists(node)
		if err != nil || !there || stat.EphemeralOwner != session {
			return err
		}
		return c.Conn().Delete(node, stat.Version)
	})
}

// nodeLease is a lease that consists only of an ephemeral node. Its holder is never told that
// the node is gone.
type nodeLease struct {
	client *lock.Connection
	node   string
	token  histories.Token
}

func (l *nodeLease) Token() histories.Token { return l.token }
func (l *nodeLease) Lost() <-chan struct{}  { return nil }
func (l *nodeLease) Valid() bool            { return true }

func (l *nodeLease) Release(ctx context.Context) error {
	err := lock.AwaitDone(ctx, l.client, func() error { return l.client.Delete(ctx, l.node) }, nil)
	if errors.Is(err, zk.ErrNoNode) {
		return errors.Join(lock.ErrLost, err)
	}
	return err
}
