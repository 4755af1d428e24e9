package targets

import (
	"context"
	"encoding/binary"

	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var (
	_ lock.SemaphoreLocker       = (*recipesClient)(nil)
	_ lock.SharedSemaphoreLocker = (*recipesClient)(nil)
	_ lock.SizeByNode            = recipesSized{}
)

func (c *recipesClient) Semaphore() lock.PermitLocker {
	return recipesPermits{c, func(name string) *recipes.Semaphore {
		return recipes.NewSemaphore(c.client, c.path(name), c.env.Locks[name].Size)
	}}
}

func (c *recipesClient) SharedSemaphore() lock.SizedLocker {
	return recipesSized{recipesPermits{c, func(name string) *recipes.Semaphore {
		return recipes.NewSharedSemaphore(c.client, c.path(name), c.size(name))
	}}}
}

// size returns the shared size of a semaphore.
func (c *recipesClient) size(name string) *recipes.SharedCount {
	return recipes.NewSharedCount(c.client, c.path(name)+service.SizeSuffix, c.env.Locks[name].Size)
}

// recipesPermits offers the recipes' semaphores of one kind.
type recipesPermits struct {
	c         *recipesClient
	semaphore func(name string) *recipes.Semaphore
}

func (p recipesPermits) AcquireN(ctx context.Context, name string, n int) (lock.Lease, error) {
	return wrapLease(p.semaphore(name).AcquireN(ctx, n))
}

func (p recipesPermits) TryAcquireN(ctx context.Context, name string, n int) (lock.Lease, error) {
	return wrapLease(p.semaphore(name).TryAcquireN(ctx, n))
}

func (p recipesPermits) Held(name string) bool { return p.semaphore(name).Held() }

type recipesSized struct{ recipesPermits }

func (s recipesSized) SetSize(ctx context.Context, name string, size int) error {
	return s.c.size(name).Set(ctx, size)
}

// SizeNode implements lock.SizeByNode. The data has the form of Curator's SharedCount.
func (s recipesSized) SizeNode(name string, n int) (string, []byte) {
	return s.c.size(name).Path(), binary.BigEndian.AppendUint32(nil, uint32(int32(n)))
}
