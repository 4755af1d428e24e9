package interop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

func TestMultiLockHoldsWhatCuratorWants(t *testing.T) {
	one, other := uniquePath(t), uniquePath(t)
	client, theirs := goClient(t), curatorClient(t)
	first, second := recipes.NewMutex(client, one), recipes.NewMutex(client, other)
	both := recipes.NewMultiLock(first, second)
	theirs.do("mutex", "one", one)
	theirs.do("mutex", "other", other)
	theirs.do("multi-lock", "both", other, one) // in the other order

	held, err := both.Acquire(within(t))
	must(t, err)
	theirs.refused("one")
	theirs.refused("other")
	theirs.refused("both")
	must(t, held.Release(within(t)))

	theirs.acquire("other")
	if _, err := both.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("error %v of a try of two locks, one of which Curator holds", err)
	}
	release(t, acquire(t, first)) // it has left no node
	us := start(t, func(ctx context.Context) error {
		held, err := both.Acquire(ctx)
		if err != nil {
			return err
		}
		return held.Release(ctx)
	})
	us.waits()
	theirs.do("release", "other")
	us.returned()

	theirs.acquire("both")
	notFree(t, first)
	notFree(t, second)
	theirs.do("release", "both")
	release(t, acquire(t, first))
	release(t, acquire(t, second))
}
