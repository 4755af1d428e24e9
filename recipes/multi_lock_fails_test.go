package recipes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// A failed acquire has released its locks when it returns, not some time later: the next acquire
// must not find them held.
func TestAMultiLockThatFailsHasGivenBackWhatItTookWhenItReturns(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	mutex := recipes.NewMutex(c, path+"/mutex")
	rw := recipes.NewReadWriteMutex(c, path+"/rw")
	single := recipes.NewNonReentrantMutex(c, path+"/single")
	m := recipes.NewMultiLock(single, rw.Read(), mutex)
	left := func() int {
		n := 0
		for _, dir := range []string{"/mutex", "/rw", "/single/locks", "/single/leases"} {
			n += len(contenders(t, conn, path+dir))
		}
		return n
	}
	for name, block := range map[string]callFunc{
		"a mutex that all take together":     leasing(recipes.NewReadWriteMutex(other, path+"/rw").Write().Acquire),
		"one that is taken after the others": leasing(recipes.NewNonReentrantMutex(other, path+"/single").Acquire),
	} {
		blocker, err := block(within(t))
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if _, err := m.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
				t.Errorf("%s: %v", name, err)
			}
			if mutex.Held() || rw.Read().Held() || single.Held() {
				t.Errorf("%s: held: %v, %v, %v", name, mutex.Held(), rw.Read().Held(), single.Held())
			}
			if n := left(); n != 1 {
				t.Errorf("%s: %d nodes are left", name, n)
			}
		}
		if err := blocker.Release(within(t)); err != nil {
			t.Error(err)
		}
	}
}

// The context bounds the release, too: the client deletes the remaining nodes in the background.
// Nevertheless the locks are not held any more.
func TestAMultiLockThatIsCancelledReturnsAtOnceAndHoldsNothing(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c, other := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), connect(t, addrsOf(t))
	conn := admin(t)
	mutex, single := recipes.NewMutex(c, path+"/mutex"), recipes.NewNonReentrantMutex(c, path+"/single")
	m := recipes.NewMultiLock(mutex, single)
	blocker, err := recipes.NewNonReentrantMutex(other, path+"/single").Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("not needed any more")
	ctx, cancel := context.WithCancelCause(within(t))
	done := calling(ctx, leasing(m.Acquire))
	eventually(t, "it has the mutex and waits", func() bool {
		return len(contenders(t, conn, path+"/mutex")) == 1 && len(contenders(t, conn, path+"/single/locks")) == 1
	})
	goOn := make(chan struct{})
	wire.on(func(op int32) bool { // no delete reaches the servers
		if op == opDelete {
			<-goOn
		}
		return true
	}, nil)
	cancel(why)
	if o := <-done; !errors.Is(o.err, why) {
		t.Errorf("got %v", o.err)
	}
	if mutex.Held() || single.Held() {
		t.Errorf("held: %v, %v", mutex.Held(), single.Held())
	}
	if n := len(contenders(t, conn, path+"/mutex")); n != 1 {
		t.Errorf("%d nodes while no delete comes through", n)
	}
	close(goOn)
	eventually(t, "nothing is left but what the other holds", func() bool {
		return len(contenders(t, conn, path+"/mutex")) == 0 && len(contenders(t, conn, path+"/single/locks")) == 0
	})
	release(t, blocker)
	l, err := m.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(within(t)); err != nil {
		t.Error(err)
	}
}

// A multi-lock that waits for a semaphore holds its mutex meanwhile. When that is lost, the wait cannot
// end in a hold.
func TestAMultiLockThatLosesAPartWhileItWaitsAcquiresAllAnew(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, conn outsider, node string, wire *intercept){
		"its node is deleted": func(t *testing.T, conn outsider, node string, _ *intercept) {
			if err := conn.Delete(node, -1); err != nil {
				t.Error(err)
			}
		},
		"its session ends": func(t *testing.T, _ outsider, _ string, wire *intercept) { expire(t, wire) },
	} {
		t.Run(name, func(t *testing.T) {
			path := uniquePath(t)
			var wire intercept
			c, other := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), connect(t, addrsOf(t))
			conn := admin(t)
			permit, err := recipes.NewSemaphore(other, path+"/semaphore", 1).Acquire(within(t))
			if err != nil {
				t.Fatal(err)
			}
			acquiring := calling(within(t), leasing(recipes.NewMultiLock(recipes.NewMutex(c, path+"/mutex"), recipes.NewSemaphore(c, path+"/semaphore", 1)).Acquire))
			node := func() string { // of the mutex, while the semaphore has a waiter
				if all := contenders(t, conn, path+"/mutex"); len(all) == 1 && len(contenders(t, conn, path+"/semaphore/locks")) == 1 {
					return path + "/mutex/" + all[0]
				}
				return ""
			}
			eventually(t, "it waits", func() bool { return node() != "" })
			first := node()
			lose(t, conn, first, &wire)
			eventually(t, "it waits with another node", func() bool { return node() != "" && node() != first })
			if err := permit.Release(within(t)); err != nil {
				t.Error(err)
			}
			got := <-acquiring
			if got.err != nil {
				t.Fatal(got.err)
			}
			if l := got.lease.(*recipes.MultiLease); !l.Valid() || l.Leases()[0].Node() == first {
				t.Errorf("valid: %v, node %s", l.Valid(), l.Leases()[0].Node())
			}
		})
	}
}

func TestAMultiLockThatIsCancelledWhenItLosesAPartReturnsTheCause(t *testing.T) {
	path, over := uniquePath(t), errors.New("over")
	ctx, cancel := context.WithCancelCause(within(t))
	c := connect(t, addrsOf(t), recipes.WithObserver(recipes.Observer{
		GaveUp: func(context.Context, recipes.Acquiring, error) { cancel(over) }, // the semaphore, for the loss
	}))
	conn := admin(t)
	if _, err := recipes.NewSemaphore(connect(t, addrsOf(t)), path+"/semaphore", 1).Acquire(within(t)); err != nil {
		t.Fatal(err)
	}
	m := recipes.NewMultiLock(recipes.NewMutex(c, path+"/mutex"), recipes.NewSemaphore(c, path+"/semaphore", 1))
	acquiring := calling(ctx, leasing(m.Acquire))
	eventually(t, "it waits", func() bool {
		return len(contenders(t, conn, path+"/mutex")) == 1 && len(contenders(t, conn, path+"/semaphore/locks")) == 1
	})
	if err := conn.Delete(path+"/mutex/"+contenders(t, conn, path+"/mutex")[0], -1); err != nil {
		t.Fatal(err)
	}
	if got := <-acquiring; !errors.Is(got.err, over) || errors.Is(got.err, recipes.ErrLeaseLost) {
		t.Errorf("returned %v", got.err)
	}
}
