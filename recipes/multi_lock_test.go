package recipes_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// Curator takes the locks one by one: A, B against B, A is a deadlock.
func TestMultiLocksInOppositeOrdersDoNotDeadlock(t *testing.T) {
	a, b := uniquePath(t), uniquePath(t)
	x, y := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	one := recipes.NewMultiLock(recipes.NewMutex(x, a), recipes.NewMutex(x, b))
	two := recipes.NewMultiLock(recipes.NewMutex(y, b), recipes.NewMutex(y, a))
	ctx := within(t)
	var mu sync.Mutex
	inside := 0
	var last recipes.Token
	var wg sync.WaitGroup
	for _, m := range []*recipes.MultiLock{one, two, one, two} {
		wg.Go(func() {
			for range 8 {
				err := m.Do(ctx, func(_ context.Context, l *recipes.MultiLease) error {
					mu.Lock()
					defer mu.Unlock()
					if inside++; inside != 1 {
						t.Errorf("%d holders", inside)
					}
					inside--
					if l.Token().Compare(last) <= 0 {
						t.Errorf("token %v after %v", l.Token(), last)
					}
					last = l.Token()
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, path := range []string{a, b} {
		eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), path)) == 0 })
	}
}

func TestAMultiLockIsAllOrNothing(t *testing.T) {
	a, b := uniquePath(t), uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	m := recipes.NewMultiLock(recipes.NewMutex(c, a), recipes.NewReadWriteMutex(c, b).Write())
	held := acquire(t, within(t), recipes.NewReadWriteMutex(other, b).Read())
	if _, err := m.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("got %v", err)
	}
	eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), a)) == 0 })
	ctx, cancel := context.WithCancel(within(t))
	done := make(chan error, 1)
	go func() {
		_, err := m.Acquire(ctx)
		done <- err
	}()
	eventually(t, "it queues", func() bool { return len(contenders(t, admin(t), b)) == 2 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "nothing is left", func() bool {
		return len(contenders(t, admin(t), a)) == 0 && len(contenders(t, admin(t), b)) == 1
	})
	release(t, held)
	l, err := m.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a, b} {
		if n := len(contenders(t, admin(t), path)); n != 1 {
			t.Errorf("%d nodes at %s", n, path)
		}
	}
	inner := acquire(t, l.Context(), recipes.NewMutex(c, a))
	if inner.Depth() != 2 {
		t.Errorf("depth %d", inner.Depth())
	}
	release(t, inner)
	if err := l.Release(within(t)); err != nil {
		t.Error(err)
	}
	if !errors.Is(context.Cause(l.Context()), recipes.ErrNotHeld) {
		t.Errorf("cause %v", context.Cause(l.Context()))
	}
	again, stop := context.WithTimeout(context.WithoutCancel(l.Context()), patient)
	defer stop()
	if _, err := recipes.NewMutex(c, a).Acquire(again); !errors.Is(err, recipes.ErrNotHeld) {
		t.Errorf("acquired again in the name of what was released: %v", err)
	}
}

func TestTheLossOfOneLockIsTheLossOfAll(t *testing.T) {
	a, b := uniquePath(t), uniquePath(t)
	c := connect(t, addrsOf(t))
	m := recipes.NewMultiLock(recipes.NewMutex(c, a), recipes.NewSemaphore(c, b, 1))
	l, err := m.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if !l.Valid() {
		t.Error("not valid")
	}
	if err := admin(t).Delete(l.Leases()[1].Node(), -1); err != nil {
		t.Fatal(err)
	}
	<-l.Lost()
	if l.Valid() || !errors.Is(context.Cause(l.Context()), recipes.ErrLeaseLost) {
		t.Errorf("valid %v, cause %v", l.Valid(), context.Cause(l.Context()))
	}
	if err := l.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("release: %v", err)
	}
	eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), a)) == 0 })
}

func TestBadMultiLocksAreRefused(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	for name, m := range map[string]*recipes.MultiLock{
		"of nothing":         recipes.NewMultiLock(),
		"of two clients":     recipes.NewMultiLock(recipes.NewMutex(c, path), recipes.NewMutex(other, path+"2")),
		"of one lock twice":  recipes.NewMultiLock(recipes.NewMutex(c, path), recipes.NewMutex(c, path)),
		"of readers, writer": recipes.NewMultiLock(recipes.NewReadWriteMutex(c, path).Read(), recipes.NewReadWriteMutex(c, path).Write()),
	} {
		if _, err := m.Acquire(within(t)); !errors.Is(err, recipes.ErrBadLocks) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
