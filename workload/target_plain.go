package workload

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
)

// plainTarget is the lock of ZooKeeper's own "Recipes and Solutions" page, no
// more: an ephemeral sequential node each, everybody watches the one before.
// Its token is the node's czxid. It has none of the care that faults call for:
// a create whose reply is lost leaves a node behind, and nobody is told of a
// loss.
type plainTarget struct{}

func (plainTarget) Name() string   { return "plain" }
func (plainTarget) Recipe() string { return "mutex" }
func (plainTarget) Description() string {
	return "the textbook lock of sequential nodes: ordered, with tokens, never tells of a loss"
}

func (plainTarget) Promises(s Settings) histories.Promises {
	return histories.Promises{Tokens: true, FIFO: true, ProgressBound: progressBound(s)}
}

func (plainTarget) Open(ctx context.Context, env Env) (Client, error) {
	c, err := openStock(ctx, env)
	if err != nil {
		return nil, err
	}
	return &plainClient{c}, nil
}

type plainClient struct{ *stockClient }

func (c *plainClient) Acquire(ctx context.Context, lock string) (Lease, error) {
	return c.acquire(ctx, lock, true)
}

func (c *plainClient) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return c.acquire(ctx, lock, false)
}

func (c *plainClient) acquire(ctx context.Context, lock string, wait bool) (Lease, error) {
	l, err := await(ctx, c.stockClient, func() (*nodeLease, error) { return c.contend(ctx, lock, wait) },
		func(l *nodeLease) { _ = c.deleteNode(l.node, nil) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c *plainClient) contend(ctx context.Context, lock string, wait bool) (_ *nodeLease, err error) {
	dir := c.path(lock)
	node, err := c.enqueue(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.deleteNode(node, ctx.Done())
		}
	}()
	_, stat, err := c.conn.Exists(node)
	if err != nil {
		return nil, err
	}
	l := &nodeLease{client: c.stockClient, node: node, token: histories.Token{Zxid: stat.Czxid}}
	for first := true; ; first = false {
		queue, _, err := c.conn.Children(dir)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(queue, func(a, b string) int { return cmp.Compare(a, b) })
		ahead := slices.Index(queue, path.Base(node))
		if ahead < 0 {
			return nil, errors.New("own node is gone")
		}
		if first {
			c.env.Enqueued(ctx, Place{Token: l.token, Ahead: ahead})
		}
		if ahead == 0 {
			return l, nil
		}
		if !wait {
			return nil, ErrNotAcquired
		}
		_, _, gone, err := c.conn.GetW(dir + "/" + queue[ahead-1])
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		select {
		case e := <-gone:
			if e.Err != nil {
				return nil, e.Err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// enqueue creates the contender's node, and the lock's own if need be.
func (c *plainClient) enqueue(dir string) (string, error) {
	for {
		node, err := c.conn.Create(dir+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, c.env.Auth.ACL())
		if !errors.Is(err, zk.ErrNoNode) {
			return node, err
		}
		_, err = c.conn.Create(strings.TrimSuffix(dir, "/"), nil, 0, c.env.Auth.ACL())
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return "", err
		}
	}
}
