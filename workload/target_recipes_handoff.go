package workload

import (
	"context"

	"github.com/zkverify/zkverify/recipes"
)

var _ HandoffLocker = (*recipesClient)(nil)

func (c *recipesClient) Handoff() Locker { return recipesHandoff{c} }

// recipesHandoff is the recipes' mutex with a hand-off within the client.
type recipesHandoff struct{ c *recipesClient }

func (h recipesHandoff) of(lock string) *recipes.Mutex {
	return recipes.NewMutex(h.c.client, h.c.path(lock), recipes.WithLocalHandoff(h.c.env.Locks[lock].Size))
}

func (h recipesHandoff) Acquire(ctx context.Context, lock string) (Lease, error) {
	return wrapLease(h.of(lock).Acquire(named(ctx, recipes.WithOwner)))
}

func (h recipesHandoff) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return wrapLease(h.of(lock).TryAcquire(named(ctx, recipes.WithOwner)))
}

func (h recipesHandoff) Reenter(ctx context.Context, lock string, held Lease) (Lease, error) {
	inner, end := Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(h.of(lock).Acquire(inner))
}
