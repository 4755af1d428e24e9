package workload

import (
	"context"

	"github.com/zkverify/zkverify/recipes"
)

var _ NonReentrantLocker = (*recipesClient)(nil)

func (c *recipesClient) NonReentrant() Locker { return recipesNonReentrant{c} }

type recipesNonReentrant struct{ c *recipesClient }

func (n recipesNonReentrant) of(lock string) *recipes.NonReentrantMutex {
	return recipes.NewNonReentrantMutex(n.c.client, n.c.path(lock))
}

func (n recipesNonReentrant) Acquire(ctx context.Context, lock string) (Lease, error) {
	return wrapLease(n.of(lock).Acquire(named(ctx, recipes.WithOwner)))
}

func (n recipesNonReentrant) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return wrapLease(n.of(lock).TryAcquire(named(ctx, recipes.WithOwner)))
}

func (n recipesNonReentrant) Held(lock string) bool { return n.of(lock).Held() }

// Reenter must fail.
func (n recipesNonReentrant) Reenter(ctx context.Context, lock string, held Lease) (Lease, error) {
	inner, end := Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(n.of(lock).Acquire(inner))
}
