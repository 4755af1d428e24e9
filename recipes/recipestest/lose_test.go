package recipestest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/recipestest"
)

// isLost checks all methods by which a lease reports its loss.
func isLost(t *testing.T, l *recipes.Lease, why recipes.LossReason) {
	t.Helper()
	select {
	case <-l.Lost():
	default:
		t.Error("Lost is open")
	}
	if l.Valid() || l.State() != recipes.Lost || !errors.Is(l.Err(), why) || !errors.Is(l.Err(), recipes.ErrLeaseLost) {
		t.Errorf("valid: %v, state: %v, error: %v", l.Valid(), l.State(), l.Err())
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, recipes.ErrLeaseLost) {
		t.Errorf("its context has ended because of %v", cause)
	}
}

// reasons returns the reasons for which a test can lose a lease.
func reasons() []recipes.LossReason {
	return slices.DeleteFunc(recipes.LossReasons(), func(why recipes.LossReason) bool { return why == recipes.LossNotAuthenticated })
}

// options returns the client options that a loss for a reason needs.
func options(why recipes.LossReason) []recipes.Option {
	if why == recipes.LossLinkSuspended {
		return []recipes.Option{recipes.WithLossPolicy(recipes.LoseOnSuspend)}
	}
	return nil
}

func TestALeaseIsLostForEveryReason(t *testing.T) {
	for _, why := range reasons() {
		t.Run(string(why), func(t *testing.T) {
			inBothTimes(t, func(t *testing.T) {
				lease := recipestest.NewLease(t, options(why)...)
				if err := lease.Err(); err != nil {
					t.Fatal(err)
				}
				lease.Lose(why)
				isLost(t, lease.Lease, why)
				if err := lease.Release(t.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
					t.Errorf("its release: %v", err)
				}
			})
		})
	}
}

func TestAfterALossTheCodeAcquiresAgain(t *testing.T) {
	for _, why := range reasons() {
		if why == recipes.LossClientClosed {
			continue
		}
		t.Run(string(why), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := recipestest.NewLease(t, options(why)...)
				first.Lose(why)
				again, err := recipes.NewMutex(first.Client().Client, first.Path()).Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if again.Token().Compare(first.Token()) <= 0 {
					t.Errorf("token %v after %v", again.Token(), first.Token())
				}
				second := first.Client().Lease(first.Path())
				if second.Lease != again {
					t.Errorf("%v is held, %v is returned", again, second)
				}
				second.Lose(why)
				isLost(t, again, why)
			})
		})
	}
}

func TestALeaseThatIsLostIsNotTheOneThatIsHeldHoweverSlowTheObserversAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := recipestest.NewLease(t, recipes.WithObserver(recipes.Observer{
			Suspended: func(*recipes.Lease) { time.Sleep(time.Minute / 2) },
		}))
		first.Lose(recipes.LossDeadlinePassed)
		again, err := recipes.NewMutex(first.Client().Client, first.Path()).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if second := first.Client().Lease(first.Path()); second.Lease != again {
			t.Errorf("%v is held, %v is returned", again, second)
		}
	})
}

func TestASuspendedLeaseIsLostForEveryReason(t *testing.T) {
	for _, why := range reasons() {
		if why == recipes.LossLinkSuspended {
			continue // with which a lease is lost instead of suspended
		}
		t.Run(string(why), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lease := recipestest.NewLease(t)
				lease.Suspend()
				lease.Lose(why)
				isLost(t, lease.Lease, why)
			})
		})
	}
}

func TestASuspensionEndsWithAResumeOrWithTheDeadline(t *testing.T) {
	inBothTimes(t, func(t *testing.T) {
		lease := recipestest.NewLease(t)
		for range 2 {
			lease.Suspend()
			if lease.State() != recipes.Suspended || !lease.Valid() || lease.Err() != nil {
				t.Errorf("%v, valid: %v, error: %v", lease, lease.Valid(), lease.Err())
			}
			lease.Resume()
			if lease.State() != recipes.Held || !lease.Valid() {
				t.Errorf("%v, valid: %v", lease, lease.Valid())
			}
		}
		lease.Suspend()
		<-lease.Lost()
		isLost(t, lease.Lease, recipes.LossDeadlinePassed)
	})
}

// The holder cannot notice the loss: only the token shows it.
func TestALossThatTheHolderCannotNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale := recipestest.NewLease(t)
		stale.LoseUnnoticed()
		if stale.State() != recipes.Held {
			t.Errorf("at once the holder has noticed: %v", stale)
		}
		newer := stale.Client().Occupy(stale.Path())
		if !stale.Valid() || stale.State() == recipes.Lost {
			t.Fatalf("the holder has noticed: %v", stale)
		}
		var fence recipes.Fence
		if err := fence.Admit(newer.Token()); err != nil {
			t.Error(err)
		}
		if err := fence.Admit(stale.Token()); !errors.Is(err, recipes.ErrStaleToken) {
			t.Errorf("a stale write: %v", err)
		}
		deadline := stale.Deadline()
		<-stale.Lost()
		if time.Now().Before(deadline) {
			t.Errorf("lost %v before its deadline", time.Until(deadline))
		}
	})
}

func TestALeaderLosesItsTerm(t *testing.T) {
	inBothTimes(t, func(t *testing.T) {
		c := recipestest.NewClient(t)
		term, err := recipes.NewElection(c.Client, "/election").Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lease := c.Lease("/election")
		if term != lease.Lease || !term.Valid() {
			t.Fatalf("%v, of %v", term, lease)
		}
		lease.Lose(recipes.LossNodeDeleted)
		if _, open := <-term.Lost(); open || term.Valid() || !errors.Is(term.Err(), recipes.ErrLeaseLost) {
			t.Errorf("%v: %v", term, term.Err())
		}
	})
}

// reasonOf returns the reason of a loss.
func reasonOf(l *recipes.Lease) (why recipes.LossReason) {
	_ = errors.As(l.Err(), &why)
	return why
}

func TestALeaseOfCodeThatAcquiresItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := recipestest.NewClient(t)
		turns := make(chan recipes.LossReason)
		ctx, stop := context.WithCancel(t.Context())
		go func() { // the code under test
			defer close(turns)
			for ctx.Err() == nil {
				_ = recipes.NewMutex(c.Client, "/jobs").Do(ctx, func(ctx context.Context, l *recipes.Lease) error {
					<-ctx.Done()
					turns <- reasonOf(l)
					return nil
				})
			}
		}()
		for _, why := range []recipes.LossReason{recipes.LossSessionExpired, recipes.LossNodeDeleted, recipes.LossDeadlinePassed} {
			c.Lease("/jobs").Lose(why)
			if got := <-turns; got != why {
				t.Errorf("the code was told of %q, want %q", got, why)
			}
		}
		lease := c.Lease("/jobs")
		stop()
		if got := <-turns; got != "" {
			t.Errorf("stopped, the code was told of a loss: %q", got)
		}
		<-turns
		if lease.State() != recipes.Released {
			t.Errorf("the code stopped and left %v", lease)
		}
	})
}

func TestOneLockOfAMultiLockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := recipestest.NewClient(t)
		both, err := recipes.NewMultiLock(recipes.NewMutex(c.Client, "/a"), recipes.NewMutex(c.Client, "/b")).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.Lease("/b").Lose(recipes.LossNodeDeleted)
		if _, open := <-both.Lost(); open || both.Valid() {
			t.Error("the multi-lease is still held")
		}
		if a := c.Lease("/a"); a.State() != recipes.Held {
			t.Errorf("the other lock: %v", a)
		}
	})
}
