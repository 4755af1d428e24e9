package targets

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var (
	_ lock.MultiLocker    = (*recipesClient)(nil)
	_ lock.MultiReenterer = (*recipesClient)(nil)
)

// Alone returns the mutex.
func (c *recipesClient) Alone() lock.Locker { return recipesPart{c} }

// recipesPart is a mutex that may be held with others.
type recipesPart struct{ *recipesClient }

func (p recipesPart) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	inner, end := lock.Owned(ctx, held.(interface{ Context() context.Context }).Context())
	defer end()
	return p.Acquire(inner, name)
}

func (c *recipesClient) AcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return wrapMultiLease(c.all(locks).Acquire(named(ctx, recipes.WithOwner)))
}

func (c *recipesClient) TryAcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return wrapMultiLease(c.all(locks).TryAcquire(named(ctx, recipes.WithOwner)))
}

func (c *recipesClient) ReenterAll(ctx context.Context, locks []string, held lock.Lease) (lock.MultiLease, error) {
	inner, end := lock.Owned(ctx, held.(interface{ Context() context.Context }).Context())
	defer end()
	return wrapMultiLease(c.all(locks).Acquire(inner))
}

func (c *recipesClient) all(locks []string) *recipes.MultiLock {
	var all []recipes.Lock
	for _, name := range locks {
		if c.env.Locks[name].Recipe == histories.NonReentrant {
			all = append(all, recipes.NewNonReentrantMutex(c.client, c.path(name)))
		} else {
			all = append(all, c.mutex(name))
		}
	}
	return recipes.NewMultiLock(all...)
}

// recipesMultiLease adapts a recipes.MultiLease to the harness.
type recipesMultiLease struct{ *recipes.MultiLease }

func wrapMultiLease(l *recipes.MultiLease, err error) (lock.MultiLease, error) {
	if err != nil {
		_, err = wrapLease(nil, err)
		return nil, err
	}
	return recipesMultiLease{l}, nil
}

func (l recipesMultiLease) Token() histories.Token { return histories.Token(l.MultiLease.Token()) }

func (l recipesMultiLease) Tokens() (tokens []histories.Token) {
	for _, one := range l.Leases() {
		tokens = append(tokens, histories.Token(one.Token()))
	}
	return tokens
}

// Nodes returns the nodes of the locks.
func (l recipesMultiLease) Nodes() (nodes []string) {
	for _, one := range l.Leases() {
		nodes = append(nodes, one.Node())
	}
	return nodes
}

// PartDeadlines returns the deadlines of the locks.
func (l recipesMultiLease) PartDeadlines() (all []time.Time) {
	for _, one := range l.Leases() {
		all = append(all, one.Deadline())
	}
	return all
}

// SessionID returns the session of the locks: they are acquired in one session.
func (l recipesMultiLease) SessionID() int64 { return l.Leases()[0].SessionID() }

func (l recipesMultiLease) Release(ctx context.Context) error {
	err := l.MultiLease.Release(ctx)
	if errors.Is(err, recipes.ErrLeaseLost) {
		return errors.Join(lock.ErrLost, err)
	}
	return err
}

// SetGuarded calls MultiLease.Multi for one node.
func (l recipesMultiLease) SetGuarded(ctx context.Context, node string, data []byte) error {
	_, err := l.Multi(ctx, &zk.SetDataRequest{Path: node, Data: data, Version: -1})
	return recipesGuarded(err)
}
