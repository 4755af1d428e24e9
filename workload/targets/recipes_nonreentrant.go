package targets

import (
	"context"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var _ lock.NonReentrantLocker = (*recipesClient)(nil)

func (c *recipesClient) NonReentrant() lock.Locker { return recipesNonReentrant{c} }

type recipesNonReentrant struct{ c *recipesClient }

func (n recipesNonReentrant) mutex(name string) *recipes.Semaphore {
	return recipes.NewNonReentrantMutex(n.c.client, n.c.path(name))
}

func (n recipesNonReentrant) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(n.mutex(name).Acquire(named(ctx, recipes.WithOwner)))
}

func (n recipesNonReentrant) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(n.mutex(name).TryAcquire(named(ctx, recipes.WithOwner)))
}

func (n recipesNonReentrant) Held(name string) bool { return n.mutex(name).Held() }

// Reenter must fail.
func (n recipesNonReentrant) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	inner, end := lock.Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(n.mutex(name).Acquire(inner))
}
