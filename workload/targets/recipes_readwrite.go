package targets

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var _ lock.ReadWriteLocker = (*recipesClient)(nil)

func (c *recipesClient) ReadWrite() (read, write lock.Locker) {
	return recipesSide{c, (*recipes.ReadWriteMutex).Read}, recipesSide{c, (*recipes.ReadWriteMutex).Write}
}

// recipesSide is one side of the recipes' read/write locks.
type recipesSide struct {
	c    *recipesClient
	side func(*recipes.ReadWriteMutex) *recipes.Mutex
}

func (s recipesSide) mutex(name string) *recipes.Mutex {
	return s.side(recipes.NewReadWriteMutex(s.c.client, s.c.path(name)))
}

func (s recipesSide) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(s.mutex(name).Acquire(named(ctx, recipes.WithOwner)))
}

func (s recipesSide) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(s.mutex(name).TryAcquire(named(ctx, recipes.WithOwner)))
}

func (s recipesSide) Held(name string) bool { return s.mutex(name).Held() }

func (s recipesSide) Participants(ctx context.Context, name string) ([]histories.Participant, error) {
	return recipesQueue(s.mutex(name).Participants(ctx))
}

// Reenter acquires with the context of the lease, of either side.
func (s recipesSide) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	inner, end := lock.Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(s.mutex(name).Acquire(inner))
}
