package recipestest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/recipestest"
)

// Code that gets a lease loses it.
func ExampleNewLease() {
	var t *testing.T // of a test function

	lease := recipestest.NewLease(t)
	done := make(chan error)
	go func() { done <- export(lease.Lease, new(file)) }()

	lease.Lose(recipes.LossSessionExpired)
	if err := <-done; !errors.Is(err, recipes.ErrLeaseLost) {
		t.Error(err)
	}
}

// Code that acquires its lock itself loses the lock that it holds.
func ExampleClient_Lease() {
	var t *testing.T // of a test function

	synctest.Test(t, func(t *testing.T) {
		client := recipestest.NewClient(t)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go nightly(ctx, client.Client, func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
		client.Lease("/nightly").Lose(recipes.LossDeadlinePassed) // waits until it is held
	})
}

// Acquires wait, are refused, or fail.
func ExampleClient_Occupy() {
	var t *testing.T // of a test function

	client := recipestest.NewClient(t)
	lock := recipes.NewMutex(client.Client, "/nightly")

	other := client.Occupy("/nightly") // from now on Acquire waits
	if _, err := lock.TryAcquire(t.Context()); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Error(err)
	}
	if err := other.Release(t.Context()); err != nil { // the next acquire gets it
		t.Error(err)
	}
	client.DenyAcquires("/nightly")
	if _, err := lock.TryAcquire(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
		t.Error(err)
	}
}
