package recipes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

func TestCuratorLockReentrant(t *testing.T) {
	onCuratorKinds(t, func(t *testing.T, kind curatorKind, path string) {
		lock := kind.make(connect(t, addrsOf(t)), path)
		conn := admin(t)
		nodes := func() int {
			n := 0
			for _, dir := range kind.queues(path) {
				n += len(contenders(t, conn, dir))
			}
			return n
		}
		foo, err := lock.acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		before := nodes()
		if !lock.held() {
			t.Error("not held by foo")
		}
		bar, err := lock.acquire(foo.Context())
		if !kind.reentrant {
			if !errors.Is(err, recipes.ErrAlreadyHeld) {
				t.Errorf("a second acquire by the owner: %v", err)
			}
			if err := foo.Release(within(t)); err != nil {
				t.Error(err)
			}
			kind.free(t, path)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		snafu, err := lock.acquire(bar.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, inner := range []heldLock{snafu, bar} {
			if inner.Token() != foo.Token() {
				t.Errorf("tokens %v and %v of one hold", inner.Token(), foo.Token())
			}
			if err := inner.Release(within(t)); err != nil {
				t.Error(err)
			}
			if !lock.held() || !foo.Valid() || inner.Valid() {
				t.Errorf("after an inner release: held %v, outer %v, inner %v", lock.held(), foo.Valid(), inner.Valid())
			}
			if n := nodes(); n != before {
				t.Errorf("%d nodes after an inner release, %d before", n, before)
			}
		}
		if err := foo.Release(within(t)); err != nil {
			t.Error(err)
		}
		if lock.held() {
			t.Error("held after the outermost release")
		}
		kind.free(t, path)
	})
}

func TestCuratorLockReentrant2Threads(t *testing.T) {
	onCuratorKinds(t, func(t *testing.T, kind curatorKind, path string) {
		if !kind.reentrant {
			t.Skip("not reentrant, as in Curator")
		}
		lock := kind.make(connect(t, addrsOf(t)), path)
		outer, err := lock.acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		inner, err := lock.acquire(outer.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Another goroutine is another owner, while one level is held or two.
		refused := func(when string) {
			t.Helper()
			done := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				_, err := lock.acquire(ctx)
				done <- err
			}()
			if err := returns(t, done); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", when, err)
			}
			if _, err := lock.try(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
				t.Errorf("a try, %s: %v", when, err)
			}
		}
		refused("two levels deep")
		if err := inner.Release(within(t)); err != nil {
			t.Error(err)
		}
		refused("one level deep")
		if err := outer.Release(within(t)); err != nil {
			t.Error(err)
		}
		eventually(t, "it is free", func() bool {
			l, err := lock.try(within(t))
			if err != nil {
				return false
			}
			return l.Release(within(t)) == nil
		})
		if lock.held() {
			t.Error("held after the outermost release")
		}
		kind.free(t, path)
	})
}

// TestCuratorRevoking is TestInterProcessMutex.testRevoking: the holder releases the lock when it
// is asked, and the client that asked gets it.
func TestCuratorRevoking(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	other := connect(t, addrsOf(t))
	var oracle believers
	asked := make(chan *recipes.Lease, 1)
	lock := recipes.NewMutex(c, path, recipes.WithRevocation(func(l *recipes.Lease) { asked <- l }))
	held := acquire(t, within(t), lock)
	oracle.got(held)
	gave := make(chan error, 1)
	go func() {
		l := <-asked
		if l != held {
			t.Errorf("asked for %v", l)
		}
		oracle.releases(held)
		gave <- l.Release(t.Context())
	}()

	all := participants(t, recipes.NewMutex(other, path), 1)
	if all[0].Node != held.Node() {
		t.Fatalf("participants: %v", all)
	}
	if err := other.Revoke(within(t), all[0].Node); err != nil {
		t.Fatal(err)
	}
	next := acquire(t, within(t), recipes.NewMutex(other, path))
	oracle.got(next)
	succeeds(t, gave)
	oracle.releases(next)
	release(t, next)
	oracle.check(t)
	select {
	case l := <-asked:
		t.Errorf("asked again, for %v", l)
	default:
	}
}

// TestCuratorLockWaitingProcessKilledServer: one holds the lock and one waits
// when all servers die. Both finish after the servers are back.
func TestCuratorLockWaitingProcessKilledServer(t *testing.T) {
	apart(t)
	for _, kind := range curatorKinds {
		t.Run(kind.name, func(t *testing.T) {
			path := uniquePath(t)
			lost := make(chan struct{}, 10)
			c := connect(t, addrsOf(t), recipes.WithConnectionListener(func(s recipes.ConnectionState) {
				if s == recipes.ConnLost {
					lost <- struct{}{}
				}
			}))
			var oracle believers
			first := leased(t, oracle.holds(within(t), kind.make(c, path)))
			waiting := oracle.holds(within(t), kind.make(c, path))
			eventually(t, "the second waits", func() bool { return kind.queued(t, path) == 2 })
			killEnsemble(t)
			for what, told := range map[string]<-chan struct{}{"the listener": lost, "the holder": first.Lost()} {
				select {
				case <-told:
				case <-time.After(patient):
					t.Fatalf("%s is not told", what)
				}
			}
			stillWaits(t, waiting)
			startEnsemble(t)
			second := leased(t, waiting)
			if err := first.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
				t.Errorf("release of the first: %v", err)
			}
			givesBack(t, &oracle, second)
			oracle.check(t)
			kind.free(t, path)
		})
	}
}
