package recipes_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// acquires is an observer that follows each acquire from its beginning to its end.
type acquires struct {
	mu    sync.Mutex
	open  map[*recipes.Acquiring]string // the state of each acquire that is under way
	ended []string                      // in no order: some ends are told by other goroutines
	errs  []error
}

type acquiresKey struct{}

func (a *acquires) observer(t *testing.T) recipes.Observer {
	a.open = make(map[*recipes.Acquiring]string)
	known := func(ctx context.Context, path string) *recipes.Acquiring {
		of, _ := ctx.Value(acquiresKey{}).(*recipes.Acquiring)
		if of == nil || of.Path != path {
			t.Errorf("the context of %s is that of %+v", path, of)
			return new(recipes.Acquiring)
		}
		return of
	}
	end := func(of *recipes.Acquiring, how string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if _, open := a.open[of]; !open {
			t.Errorf("%+v %s, and is not open", of, how)
		}
		delete(a.open, of)
		a.ended = append(a.ended, of.Recipe+" "+of.Path+" "+how)
	}
	return recipes.Observer{
		Acquiring: func(ctx context.Context, of recipes.Acquiring) context.Context {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.open[&of] = ""
			return context.WithValue(ctx, acquiresKey{}, &of)
		},
		Enqueued: func(ctx context.Context, e recipes.Enqueued) { known(ctx, e.Path) },
		GaveUp: func(ctx context.Context, of recipes.Acquiring, err error) {
			end(known(ctx, of.Path), "gave up")
			a.errs = append(a.errs, err)
		},
		Acquired: func(l *recipes.Lease, waited time.Duration) {
			of := known(l.Context(), l.Path())
			if waited < 0 || waited > time.Since(of.Asked) {
				t.Errorf("%s: waited %v of %v", of.Path, waited, time.Since(of.Asked))
			}
			end(of, "acquired")
		},
	}
}

// took returns the outcomes of the acquires since the last call, and fails the test when one of
// them has not ended.
func (a *acquires) took(t *testing.T) []string {
	t.Helper()
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for of := range maps.Keys(a.open) {
		t.Errorf("never ended: %+v", of)
	}
	ended := slices.Sorted(slices.Values(a.ended))
	a.ended = nil
	return ended
}

type tryer interface {
	TryAcquire(context.Context) (*recipes.Lease, error)
}

func TestAnObserverFollowsAnAcquireOfEachRecipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var seen acquires
		one, two := bubbleClient(t, e, "one"), bubbleClient(t, e, "two", recipes.WithObserver(seen.observer(t)))
		locks := func(c *recipes.Client) map[string]tryer {
			rw := recipes.NewReadWriteMutex(c, "/readwrite")
			return map[string]tryer{
				"mutex /mutex":        recipes.NewMutex(c, "/mutex"),
				"mutex /handoff":      recipes.NewMutex(c, "/handoff", recipes.WithLocalHandoff(2)),
				"write /readwrite":    rw.Write(),
				"nonreentrant /plain": recipes.NewNonReentrantMutex(c, "/plain"),
				"semaphore /permits":  recipes.NewSemaphore(c, "/permits", 1),
			}
		}
		theirs := locks(one)
		for name, lock := range locks(two) {
			ahead, err := theirs[name].TryAcquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := lock.TryAcquire(t.Context()); !errors.Is(err, recipes.ErrNotAcquired) {
				t.Errorf("%s: %v", name, err)
			}
			if got := seen.took(t); !slices.Equal(got, []string{name + " gave up"}) {
				t.Errorf("%s behind another: %v", name, got)
			}
			if err := ahead.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			lease, err := lock.TryAcquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = lock.TryAcquire(lease.Context()) // a re-entry, or refused
			if got := seen.took(t); !strings.HasPrefix(name, "semaphore") && !slices.Equal(got, []string{name + " acquired"}) {
				t.Errorf("%s: %v", name, got)
			}
		}
		for _, err := range seen.errs {
			if !errors.Is(err, recipes.ErrNotAcquired) {
				t.Errorf("the observer is told of %v", err)
			}
		}
	})
}

func TestAnObserverFollowsReadersAndCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen acquires
		client := bubbleClient(t, zktest.Start(t), "one", recipes.WithObserver(seen.observer(t)))
		if _, err := recipes.NewReadWriteMutex(client, "/readwrite").Read().Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := recipes.NewElection(client, "/election").Campaign(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := recipes.NewElection(client, "/selector", recipes.WithLeaderSelector()).Campaign(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{"election /election acquired", "election /selector acquired", "read /readwrite acquired"}
		if got := seen.took(t); !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	})
}

// An acquire gives up when its context ends, and when its client is closed.
func TestAnObserverIsToldWhyAnAcquireGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var seen acquires
		one, two := bubbleClient(t, e, "one"), bubbleClient(t, e, "two", recipes.WithObserver(seen.observer(t)))
		if _, err := recipes.NewMutex(one, "/l").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := recipes.NewMutex(two, "/l").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		done := make(chan error)
		go func() {
			_, err := recipes.NewMutex(two, "/l").Acquire(t.Context())
			done <- err
		}()
		time.Sleep(time.Second)
		_ = two.Close(t.Context())
		if err := <-done; !errors.Is(err, recipes.ErrClosed) {
			t.Error(err)
		}
		if got := seen.took(t); !slices.Equal(got, []string{"mutex /l gave up", "mutex /l gave up"}) {
			t.Errorf("%v", got)
		}
		if !errors.Is(seen.errs[0], context.DeadlineExceeded) || !errors.Is(seen.errs[1], recipes.ErrClosed) {
			t.Errorf("the observer is told of %v", seen.errs)
		}
		if _, err := recipes.NewMutex(one, "bad").Acquire(t.Context()); !errors.Is(err, recipes.ErrBadPath) {
			t.Error(err)
		}
	})
}

// Each lock of a multi-lock is reported on its own, and an acquire that continues in another
// session is the same acquire.
func TestAnObserverFollowsEachLockOfAMultiLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var seen acquires
		one, two := bubbleClient(t, e, "one"), bubbleClient(t, e, "two", recipes.WithObserver(seen.observer(t)))
		locks := recipes.NewMultiLock(recipes.NewMutex(two, "/a"), recipes.NewMutex(two, "/b"), recipes.NewSemaphore(two, "/s", 1))
		ahead, err := recipes.NewMutex(one, "/b").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := locks.TryAcquire(t.Context()); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Error(err)
		}
		if got := seen.took(t); !slices.Equal(got, []string{"mutex /a gave up", "mutex /b gave up"}) {
			t.Errorf("a try: %v", got)
		}
		time.AfterFunc(time.Second, e.Client("two").Expire)
		time.AfterFunc(time.Minute, func() { _ = ahead.Release(context.Background()) })
		all, err := locks.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := seen.took(t); !slices.Equal(got, []string{"mutex /a acquired", "mutex /b acquired", "semaphore /s acquired"}) {
			t.Errorf("an acquire: %v", got)
		}
		_ = all.Release(t.Context())
	})
}

func TestAnObserverIsToldHowManyAreAhead(t *testing.T) {
	path := uniquePath(t)
	placed := make(chan recipes.Enqueued, 1)
	o := recipes.Observer{Enqueued: func(_ context.Context, e recipes.Enqueued) { placed <- e }}
	c := connect(t, addrsOf(t), recipes.WithObserver(o))
	var last recipes.Enqueued
	var waiting []<-chan result
	for i := range 3 {
		waiting = append(waiting, acquiring(within(t), recipes.NewMutex(c, path)))
		e := <-placed
		if e.Ahead != i || e.Path != path || e.Session != c.SessionID() || i > 0 && e.Token.Compare(last.Token) <= 0 {
			t.Errorf("%d came before, and it is told of %+v", i, e)
		}
		last = e
	}
	for _, w := range waiting {
		release(t, (<-w).ok(t))
	}
}
