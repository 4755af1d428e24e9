package targets

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var (
	_ lock.HandoffLocker      = (*recipesClient)(nil)
	_ lock.NonReentrantLocker = (*recipesClient)(nil)
	_ lock.ReadWriteLocker    = (*recipesClient)(nil)
	_ lock.OwnerLocker        = (*recipesClient)(nil)
)

// Handoff returns the mutex with a hand-off within the client.
func (c *recipesClient) Handoff() lock.Locker {
	return recipesLocker[*recipes.Mutex](func(name string) *recipes.Mutex {
		return recipes.NewMutex(c.client, c.path(name), recipes.WithLocalHandoff(c.env.Locks[name].Size))
	})
}

// NonReentrant returns the mutex that refuses a Reenter.
func (c *recipesClient) NonReentrant() lock.Locker {
	return recipesHolder[*recipes.Semaphore]{func(name string) *recipes.Semaphore {
		return recipes.NewNonReentrantMutex(c.client, c.path(name))
	}}
}

// ReadWrite returns the sides of the read/write lock. Reenter takes a lease of either side.
func (c *recipesClient) ReadWrite() (read, write lock.Locker) {
	lockAt := func(name string) *recipes.ReadWriteMutex { return recipes.NewReadWriteMutex(c.client, c.path(name)) }
	return queued(func(name string) doing { return doing{lockAt(name).Read(), c.env.Choices.Do} }),
		queued(func(name string) doing { return doing{lockAt(name).Write(), c.env.Choices.Do} })
}

// recipesLocker offers the locks of one kind by their names.
type recipesLocker[L acquirer] func(name string) L

type acquirer interface {
	Acquire(ctx context.Context) (*recipes.Lease, error)
	TryAcquire(ctx context.Context) (*recipes.Lease, error)
}

func (at recipesLocker[L]) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(at(name).Acquire(named(ctx, recipes.WithOwner)))
}

func (at recipesLocker[L]) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(at(name).TryAcquire(named(ctx, recipes.WithOwner)))
}

// Reenter acquires with the context of the lease, which carries its owner.
func (at recipesLocker[L]) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	inner, end := lock.Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(at(name).Acquire(inner))
}

// KeepsByOwner implements lock.OwnerLocker.
func (recipesLocker[L]) KeepsByOwner() {}

// recipesHolder is a recipesLocker whose locks say whether they are held.
type recipesHolder[L holder] struct{ recipesLocker[L] }

type holder interface {
	acquirer
	Held() bool
}

func (h recipesHolder[L]) Held(name string) bool { return h.recipesLocker(name).Held() }

// recipesQueued is a recipesHolder whose locks list their queue.
type recipesQueued[L queuer] struct{ recipesHolder[L] }

type queuer interface {
	holder
	Participants(ctx context.Context) ([]recipes.Participant, error)
}

func queued[L queuer](at func(name string) L) recipesQueued[L] {
	return recipesQueued[L]{recipesHolder[L]{at}}
}

func (q recipesQueued[L]) Participants(ctx context.Context, name string) ([]histories.Participant, error) {
	return recipesQueue(q.recipesLocker(name).Participants(ctx))
}
