package recipes_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// unreachable holds the faults under which servers do not answer.
var unreachable = map[string]func(e *zktest.Ensemble, link *zktest.Client){
	"nothing passes":             func(_ *zktest.Ensemble, link *zktest.Client) { link.Cut() },
	"the servers have gone":      func(e *zktest.Ensemble, _ *zktest.Client) { killAll(e) },
	"the servers have no quorum": func(e *zktest.Ensemble, _ *zktest.Client) { e.Kill(1); e.Kill(2) },
}

func killAll(e *zktest.Ensemble) {
	for id := range e.Servers() {
		e.Kill(id + 1)
	}
}

// A call that releases a lease returns at the lease's deadline, even if its
// context has no deadline.
func TestWhatReleasesALeaseEndsAtItsDeadline(t *testing.T) {
	background := context.Background()
	for name, hold := range map[string]func(c *recipes.Client, away func(deadline time.Time)) error{
		"Do of a mutex": func(c *recipes.Client, away func(time.Time)) error {
			return recipes.NewMutex(c, "/l").Do(background, func(_ context.Context, l *recipes.Lease) error { away(l.Deadline()); return nil })
		},
		"Do of a mutex that is handed on": func(c *recipes.Client, away func(time.Time)) error {
			return recipes.NewMutex(c, "/l", recipes.WithLocalHandoff(3)).Do(background, func(_ context.Context, l *recipes.Lease) error { away(l.Deadline()); return nil })
		},
		"Do of a read lock": func(c *recipes.Client, away func(time.Time)) error {
			return recipes.NewReadWriteMutex(c, "/l").Read().Do(background, func(_ context.Context, l *recipes.Lease) error { away(l.Deadline()); return nil })
		},
		"Do of a lock without re-entry": func(c *recipes.Client, away func(time.Time)) error {
			return recipes.NewNonReentrantMutex(c, "/l").Do(background, func(_ context.Context, l *recipes.Lease) error { away(l.Deadline()); return nil })
		},
		"Do of a semaphore": func(c *recipes.Client, away func(time.Time)) error {
			return recipes.NewSemaphore(c, "/l", 3).Do(background, func(_ context.Context, l *recipes.Lease) error { away(l.Deadline()); return nil })
		},
		"Do of a multi-lock": func(c *recipes.Client, away func(time.Time)) error {
			return recipes.NewMultiLock(recipes.NewMutex(c, "/a"), recipes.NewMutex(c, "/b")).Do(background, func(_ context.Context, l *recipes.MultiLease) error {
				away(l.Deadline())
				return nil
			})
		},
		"Run of an election": func(c *recipes.Client, away func(time.Time)) error {
			return recipes.NewElection(c, "/l").Run(background, func(_ context.Context, t *recipes.Lease) error { away(t.Deadline()); return nil })
		},
		"Release": func(c *recipes.Client, away func(time.Time)) error {
			l, err := recipes.NewMutex(c, "/l").Acquire(background)
			if err != nil {
				return err
			}
			away(l.Deadline())
			first := l.Release(background)
			if again := l.Release(background); !errors.Is(again, recipes.ErrLeaseLost) {
				return again
			}
			return first
		},
	} {
		for how, cut := range unreachable {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := zktest.Start(t)
					c := bubbleClient(t, e, "holder", recipes.WithSessionTimeout(4*time.Second))
					var deadline time.Time
					err := hold(c, func(at time.Time) {
						deadline = at
						cut(e, e.Client("holder"))
					})
					if !errors.Is(err, recipes.ErrLeaseLost) || !strings.Contains(err.Error(), "deadline passed before") {
						t.Errorf("it returns %v", err)
					}
					if late := time.Since(deadline); late > 0 {
						t.Errorf("it returns %v after the deadline", late)
					}
				})
			})
		}
	}
}

// A release that the servers answer late, but before the deadline, is not a loss.
func TestAReleaseThatIsAnsweredBeforeTheDeadlineIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "holder", recipes.WithSessionTimeout(4*time.Second))
		l := acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
		e.Client("holder").Cut()
		time.AfterFunc(time.Second, func() { e.Client("holder").Heal() })
		if err := l.Release(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
