package workload

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
)

// naiveTarget is the lock of every first attempt: whoever creates the one
// ephemeral node has the lock, everybody else watches it. It is exclusive as
// long as sessions live. Each release wakes every waiter, and who comes first
// is a matter of luck.
type naiveTarget struct{}

func (naiveTarget) Name() string   { return "naive" }
func (naiveTarget) Recipe() string { return "mutex" }
func (naiveTarget) Description() string {
	return "one ephemeral node that everybody watches: no order, a herd at each release"
}

func (naiveTarget) Promises(s Settings) histories.Promises {
	return histories.Promises{ProgressBound: progressBound(s)}
}

func (naiveTarget) Open(ctx context.Context, env Env) (Client, error) {
	c, err := openStock(ctx, env)
	if err != nil {
		return nil, err
	}
	return &naiveClient{c}, nil
}

type naiveClient struct{ *stockClient }

func (c *naiveClient) Acquire(ctx context.Context, lock string) (Lease, error) {
	return c.acquire(ctx, lock, true)
}

func (c *naiveClient) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return c.acquire(ctx, lock, false)
}

func (c *naiveClient) acquire(ctx context.Context, lock string, wait bool) (Lease, error) {
	node := c.path(lock)
	_, err := await(ctx, c.stockClient, func() (struct{}, error) { return struct{}{}, c.contend(ctx, node, wait) },
		func(struct{}) { _ = c.deleteNode(node, nil) })
	if err != nil {
		return nil, err
	}
	return &nodeLease{client: c.stockClient, node: node}, nil
}

func (c *naiveClient) contend(ctx context.Context, node string, wait bool) error {
	for {
		session := c.conn.SessionID()
		_, err := c.conn.Create(node, nil, zk.FlagEphemeral, c.env.Auth.ACL())
		if err == nil {
			return nil
		}
		if !errors.Is(err, zk.ErrNodeExists) {
			// The create may have been carried out: look whose node it is, or
			// it would block everybody until the session ends.
			c.disown(ctx, node, session)
			return err
		}
		if !wait {
			return ErrNotAcquired
		}
		there, _, gone, err := c.conn.ExistsW(node)
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
	_ = c.untilKnown(func() error {
		there, stat, err := c.conn.Exists(node)
		if err != nil || !there || stat.EphemeralOwner != session {
			return err
		}
		return c.conn.Delete(node, stat.Version)
	}, ctx.Done())
}

// nodeLease is a lease that is nothing but an ephemeral node. Its holder is
// never told that it is gone.
type nodeLease struct {
	client *stockClient
	node   string
	token  histories.Token
}

func (l *nodeLease) Token() histories.Token { return l.token }
func (l *nodeLease) Lost() <-chan struct{}  { return nil }
func (l *nodeLease) Valid() bool            { return true }

func (l *nodeLease) Release(ctx context.Context) error {
	_, err := await(ctx, l.client, func() (struct{}, error) { return struct{}{}, l.client.deleteNode(l.node, ctx.Done()) },
		func(struct{}) {})
	if errors.Is(err, zk.ErrNoNode) {
		return errors.Join(ErrLost, err)
	}
	return err
}
