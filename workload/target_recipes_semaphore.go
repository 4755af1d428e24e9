package workload

import (
	"context"

	"github.com/zkverify/zkverify/recipes"
)

var (
	_ SemaphoreLocker       = (*recipesClient)(nil)
	_ SharedSemaphoreLocker = (*recipesClient)(nil)
	_ SizeByNode            = recipesSized{}
)

func (c *recipesClient) Semaphore() PermitLocker {
	return recipesPermits{c, func(lock string) *recipes.Semaphore {
		return recipes.NewSemaphore(c.client, c.path(lock), c.env.Locks[lock].Size)
	}}
}

func (c *recipesClient) SharedSemaphore() SizedLocker {
	return recipesSized{recipesPermits{c, func(lock string) *recipes.Semaphore {
		return recipes.NewSharedSemaphore(c.client, c.path(lock), c.size(lock))
	}}}
}

// size is the shared size of a semaphore.
func (c *recipesClient) size(lock string) *recipes.SharedCount {
	return recipes.NewSharedCount(c.client, c.path(lock)+"-size", c.env.Locks[lock].Size)
}

// recipesPermits is the recipes' semaphores of one sort.
type recipesPermits struct {
	c  *recipesClient
	of func(lock string) *recipes.Semaphore
}

func (p recipesPermits) AcquireN(ctx context.Context, lock string, n int) (Lease, error) {
	return wrapLease(p.of(lock).AcquireN(ctx, n))
}

func (p recipesPermits) TryAcquireN(ctx context.Context, lock string, n int) (Lease, error) {
	return wrapLease(p.of(lock).TryAcquireN(ctx, n))
}

func (p recipesPermits) Held(lock string) bool { return p.of(lock).Held() }

type recipesSized struct{ recipesPermits }

func (s recipesSized) SetSize(ctx context.Context, lock string, size int) error {
	return s.c.size(lock).Set(ctx, size)
}

func (s recipesSized) SizeNode(lock string) string { return s.c.size(lock).Path() }
