package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
)

var _ ReadWriteLocker = (*recipesClient)(nil)

func (c *recipesClient) ReadWrite() (read, write Locker) {
	return recipesSide{c, (*recipes.ReadWriteMutex).Read}, recipesSide{c, (*recipes.ReadWriteMutex).Write}
}

// recipesSide is one side of the recipes' read/write locks.
type recipesSide struct {
	c    *recipesClient
	side func(*recipes.ReadWriteMutex) *recipes.Mutex
}

func (s recipesSide) of(lock string) *recipes.Mutex {
	return s.side(recipes.NewReadWriteMutex(s.c.client, s.c.path(lock)))
}

func (s recipesSide) Acquire(ctx context.Context, lock string) (Lease, error) {
	return wrapLease(s.of(lock).Acquire(named(ctx, recipes.WithOwner)))
}

func (s recipesSide) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return wrapLease(s.of(lock).TryAcquire(named(ctx, recipes.WithOwner)))
}

func (s recipesSide) Held(lock string) bool { return s.of(lock).Held() }

func (s recipesSide) Participants(ctx context.Context, lock string) ([]histories.Participant, error) {
	return recipesQueue(s.of(lock).Participants(ctx))
}

// Reenter acquires with the context of the lease, whichever side it is of.
func (s recipesSide) Reenter(ctx context.Context, lock string, held Lease) (Lease, error) {
	inner, end := Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(s.of(lock).Acquire(inner))
}
