package targets

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// plainTarget is the lock of ZooKeeper's own "Recipes and Solutions" page, no more: an
// ephemeral sequential node each, and each client watches the one before. Its token is the
// node's czxid. It has none of the precautions that faults require: a create whose reply is
// lost leaves a node behind, and no holder is notified of a loss.
type plainTarget struct {
	// listsOnce is a mistake that is often copied: when the node before its own is gone, it takes
	// the lock. That node may have been a waiter's, which gave up or whose session ended, while
	// the holder still has the lock.
	listsOnce bool
}

func (t plainTarget) Name() string {
	if t.listsOnce {
		return "plain-lists-once"
	}
	return "plain"
}

func (plainTarget) Recipe() string { return "mutex" }

func (t plainTarget) Description() string {
	if t.listsOnce {
		return "plain with a mistake: when the node before its own is gone it takes the lock, without listing the queue again"
	}
	return "the textbook lock of sequential nodes: ordered, with tokens, no care for a lost reply or a lost session"
}

func (plainTarget) Promises(lock.Settings) histories.Promises {
	return histories.Promises{Tokens: true, FIFO: true}
}

func (t plainTarget) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := lock.Connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return &plainClient{c, t.listsOnce}, nil
}

type plainClient struct {
	*lock.Connection
	listsOnce bool // see plainTarget
}

func (c *plainClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.acquire(ctx, name, true)
}

func (c *plainClient) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.acquire(ctx, name, false)
}

func (c *plainClient) acquire(ctx context.Context, name string, wait bool) (lock.Lease, error) {
	l, err := lock.Await(ctx, c.Connection, func() (*nodeLease, error) { return c.contend(ctx, name, wait) },
		func(l *nodeLease) { _ = c.Delete(context.Background(), l.node) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c *plainClient) contend(ctx context.Context, name string, wait bool) (_ *nodeLease, err error) {
	dir := c.Path(name)
	node, err := c.enqueue(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.Delete(ctx, node)
		}
	}()
	_, stat, err := c.Conn().Exists(node)
	if err != nil {
		return nil, err
	}
	l := &nodeLease{client: c.Connection, node: node, token: histories.Token{Zxid: stat.Czxid}}
	for first := true; ; first = false {
		queue, _, err := c.Conn().Children(dir)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(queue, func(a, b string) int { return cmp.Compare(a, b) })
		ahead := slices.Index(queue, path.Base(node))
		if ahead < 0 {
			return nil, errors.New("own node is gone")
		}
		if first {
			c.Env.Enqueued(ctx, lock.Place{Token: l.token, Ahead: ahead})
		}
		if ahead == 0 {
			return l, nil
		}
		if !wait {
			return nil, lock.ErrNotAcquired
		}
		if err := c.awaitGone(ctx, dir+"/"+queue[ahead-1]); err != nil {
			return nil, err
		}
		if c.listsOnce {
			return l, nil
		}
	}
}

// awaitGone waits until a node does not exist, or its watch fires for another reason.
func (c *plainClient) awaitGone(ctx context.Context, node string) error {
	_, _, gone, err := c.Conn().GetW(node)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	select {
	case e := <-gone:
		return e.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// enqueue creates the contender's node, and the lock's own node if need be.
func (c *plainClient) enqueue(dir string) (string, error) {
	for {
		node, err := c.Conn().Create(dir+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, c.ACL())
		if !errors.Is(err, zk.ErrNoNode) {
			return node, err
		}
		_, err = c.Conn().Create(strings.TrimSuffix(dir, "/"), nil, 0, c.ACL())
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return "", err
		}
	}
}
