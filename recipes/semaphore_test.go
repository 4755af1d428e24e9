package recipes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

func permits(t *testing.T, path string) int {
	t.Helper()
	return len(contenders(t, admin(t), path+"/leases"))
}

func TestKazoo214ASemaphoreNeverAdmitsMoreThanItsSize(t *testing.T) {
	path := uniquePath(t)
	const size = 5
	var clients []*recipes.Client
	for range 3 {
		clients = append(clients, connect(t, addrsOf(t)))
	}
	ctx := within(t)
	var mu sync.Mutex
	out, most := 0, 0
	var wg sync.WaitGroup
	for i := range 24 {
		s := recipes.NewSemaphore(clients[i%3], path, size)
		wg.Go(func() {
			for n := range 3 {
				want := (i+n)%size + 1
				l, err := s.AcquireN(ctx, want)
				if err != nil {
					t.Error(err)
					return
				}
				if l.Permits() != want {
					t.Errorf("%d permits, want %d", l.Permits(), want)
				}
				mu.Lock()
				out += want
				most = max(most, out)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				out -= want
				mu.Unlock()
				if err := l.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most > size {
		t.Errorf("%d permits out of %d", most, size)
	}
	if n := permits(t, path); n != 0 {
		t.Errorf("%d nodes are left", n)
	}
	if n := len(contenders(t, admin(t), path+"/locks")); n != 0 {
		t.Errorf("%d acquirers are left", n)
	}
}

// Two acquires of 2 on a size of 2: Curator takes permits one by one, and both
// may wait for each other.
func TestTwoAcquiresOfAllPermitsDoNotWaitForEachOther(t *testing.T) {
	path := uniquePath(t)
	a, b := recipes.NewSemaphore(connect(t, addrsOf(t)), path, 2), recipes.NewSemaphore(connect(t, addrsOf(t)), path, 2)
	var wg sync.WaitGroup
	for _, s := range []*recipes.Semaphore{a, b, a, b} {
		wg.Go(func() {
			for range 5 {
				l, err := s.AcquireN(within(t), 2)
				if err != nil {
					t.Error(err)
					return
				}
				if err := l.Release(within(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAnAcquireOfManyPermitsIsNotOvertaken(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	s := recipes.NewSemaphore(c, path, 3)
	one, err := s.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan result, 1)
	go func() {
		l, err := s.AcquireN(context.Background(), 3)
		all <- result{l, err}
	}()
	eventually(t, "it queues", func() bool { return len(contenders(t, admin(t), path+"/locks")) == 1 })
	if _, err := s.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("overtaken: %v", err)
	}
	if n := permits(t, path); n != 1 {
		t.Errorf("%d permits are out while one is held and three are waited for", n)
	}
	release(t, one)
	l := (<-all).ok(t)
	if _, err := s.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a fourth of three permits: %v", err)
	}
	release(t, l)
	l, err = s.TryAcquireN(within(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	release(t, l)
}

func TestCurator335APermitIsNotLostWhenItsWaiterGoes(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	s := recipes.NewSemaphore(c, path, 1)
	held, err := s.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := s.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	eventually(t, "only the holder's node is left", func() bool {
		return permits(t, path) == 1 && len(contenders(t, admin(t), path+"/locks")) == 0
	})
	release(t, held)
	l, err := s.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	release(t, l)
}

func TestCurator75WaitersHearOfALargerSize(t *testing.T) {
	path := uniquePath(t)
	a, b := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second)), connect(t, addrsOf(t))
	count := recipes.NewSharedCount(a, path+"-size", 1)
	s := recipes.NewSharedSemaphore(a, path, count)
	first, err := s.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan result, 1)
	go func() {
		l, err := s.AcquireN(context.Background(), 2)
		second <- result{l, err}
	}()
	eventually(t, "it queues", func() bool { return len(contenders(t, admin(t), path+"/locks")) == 1 })
	other := recipes.NewSharedCount(b, path+"-size", 0)
	if n, err := other.Get(within(t)); n != 1 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	start := time.Now()
	if err := other.Set(within(t), 3); err != nil {
		t.Fatal(err)
	}
	l := (<-second).ok(t)
	if waited := time.Since(start); waited > 10*time.Second {
		t.Errorf("found out by the slow poll after %v", waited)
	}
	// The size is lowered: no holder loses a permit, and no acquirer gets one.
	if err := other.Set(within(t), 2); err != nil {
		t.Fatal(err)
	}
	release(t, first)
	if _, err := s.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a third permit of two: %v", err)
	}
	if !l.Valid() {
		t.Error("the lease is not valid")
	}
	release(t, l)
}

func TestANonReentrantMutexRefusesItsOwner(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	m := recipes.NewNonReentrantMutex(c, path)
	l, err := m.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Acquire(l.Context()); !errors.Is(err, recipes.ErrAlreadyHeld) {
		t.Errorf("a second acquire by the owner: %v", err)
	}
	if _, err := recipes.NewNonReentrantMutex(other, path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a second holder: %v", err)
	}
	if !m.Held() || recipes.NewNonReentrantMutex(other, path).Held() {
		t.Error("Held is wrong")
	}
	release(t, l)
	again, err := m.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if again.Token().Compare(l.Token()) <= 0 {
		t.Errorf("token %v after %v", again.Token(), l.Token())
	}
	release(t, again)
}

func TestBadNumbersOfPermitsAreRefused(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	for _, test := range []struct {
		n, size int
		want    error
	}{
		{0, 3, recipes.ErrBadPermits}, {-1, 3, recipes.ErrBadPermits}, {1, 0, recipes.ErrBadPermits},
		{4, 3, recipes.ErrTooManyPermits}, {5000, 10000, recipes.ErrTooManyPermits},
	} {
		if _, err := recipes.NewSemaphore(c, path, test.size).AcquireN(within(t), test.n); !errors.Is(err, test.want) {
			t.Errorf("%d of %d: %v", test.n, test.size, err)
		}
	}
	if n := permits(t, path); n != 0 {
		t.Errorf("%d nodes are left", n)
	}
}
