package targets

import (
	"context"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var _ lock.HandoffLocker = (*recipesClient)(nil)

func (c *recipesClient) Handoff() lock.Locker { return recipesHandoff{c} }

// recipesHandoff is the recipes' mutex with a hand-off within the client.
type recipesHandoff struct{ c *recipesClient }

func (h recipesHandoff) mutex(name string) *recipes.Mutex {
	return recipes.NewMutex(h.c.client, h.c.path(name), recipes.WithLocalHandoff(h.c.env.Locks[name].Size))
}

func (h recipesHandoff) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(h.mutex(name).Acquire(named(ctx, recipes.WithOwner)))
}

func (h recipesHandoff) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(h.mutex(name).TryAcquire(named(ctx, recipes.WithOwner)))
}

func (h recipesHandoff) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	inner, end := lock.Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(h.mutex(name).Acquire(inner))
}
