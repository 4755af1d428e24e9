package recipestest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/recipestest"
)

func TestAnOccupiedMutexRefusesTriesAndMakesAcquiresWait(t *testing.T) {
	inBothTimes(t, func(t *testing.T) {
		c := recipestest.NewClient(t)
		lock := recipes.NewMutex(c.Client, "/jobs")
		other := c.Occupy("/jobs")
		if _, err := lock.TryAcquire(t.Context()); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Errorf("a try: %v", err)
		}
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := lock.Acquire(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an acquire: %v", err)
		}
		acquired := make(chan error)
		go func() {
			_, err := lock.Acquire(t.Context())
			acquired <- err
		}()
		other.Lose(recipes.LossNodeDeleted)
		if err := <-acquired; err != nil {
			t.Error(err)
		}
		if l := c.Lease("/jobs"); l.Token().Compare(other.Token()) <= 0 {
			t.Errorf("token %v after %v", l.Token(), other.Token())
		}
	})
}

func TestDeniedAcquiresFailUntilTheyAreAllowed(t *testing.T) {
	for name, path := range map[string]string{"one level": "/jobs", "three levels": "/app/locks/jobs"} {
		t.Run(name, func(t *testing.T) {
			inBothTimes(t, func(t *testing.T) {
				c := recipestest.NewClient(t)
				lock := recipes.NewMutex(c.Client, path)
				for range 2 { // the path is missing, and then there
					c.DenyAcquires(path)
					if _, err := lock.Acquire(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
						t.Errorf("an acquire: %v", err)
					}
					if _, err := lock.TryAcquire(t.Context()); !errors.Is(err, zk.ErrNoAuth) {
						t.Errorf("a try: %v", err)
					}
					c.AllowAcquires(path)
					lease, err := lock.Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					c.DenyAcquires(path)
					if err := lease.Release(t.Context()); err != nil {
						t.Errorf("the release of a lease that is held: %v", err)
					}
				}
			})
		})
	}
}

// The caller's own observers are told too.
func TestTheObserversOfTheCallerAreTold(t *testing.T) {
	inBothTimes(t, func(t *testing.T) {
		told := make(chan recipes.LossReason, 1)
		lease := recipestest.NewLease(t, recipes.WithObserver(recipes.Observer{
			Lost: func(_ *recipes.Lease, why recipes.LossReason, _ time.Duration) { told <- why },
		}))
		lease.Lose(recipes.LossSessionExpired)
		if why := <-told; why != recipes.LossSessionExpired {
			t.Errorf("told of %q", why)
		}
	})
}
