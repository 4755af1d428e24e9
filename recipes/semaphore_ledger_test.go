package recipes_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// TestContendersOfOneClientTakeTheirPermitsTogetherAndWithoutALook counts requests.
func TestContendersOfOneClientTakeTheirPermitsTogetherAndWithoutALook(t *testing.T) {
	path := uniquePath(t)
	c, sent := counted(t)
	s := recipes.NewSemaphore(c, path, 100)
	other, err := recipes.NewSemaphore(connect(t, addrsOf(t)), path, 100).AcquireN(within(t), 100)
	if err != nil {
		t.Fatal(err)
	}
	const n = 50
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			l, err := s.Acquire(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			if err := l.Release(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all queue", func() bool { return len(contenders(t, admin(t), path+"/locks")) == n })
	sent()
	release(t, other)
	wg.Wait()
	got := sent()
	// The first acquirer lists the permits and the queue; then all take their permits together,
	// or in a few groups.
	if got[opMulti] > n/4 || got[opChildren] > 5 || got[opDelete] != n {
		t.Errorf("requests by operation: %v", got)
	}
}

// TestWhatIsKnownOfThePermitsIsForgottenWhenOthersCome: contenders of several clients, with
// several permits each, in every order. The sum never exceeds the size, and no client uses
// knowledge from before another client's turn.
func TestWhatIsKnownOfThePermitsIsForgottenWhenOthersCome(t *testing.T) {
	path := uniquePath(t)
	const size = 4
	var mu sync.Mutex
	out := 0
	var wg sync.WaitGroup
	ctx := within(t)
	for i := range 3 {
		s := recipes.NewSemaphore(connect(t, addrsOf(t)), path, size)
		for j := range 8 {
			wg.Go(func() {
				for n := range 4 {
					want := 1 + (i+j+n)%3
					l, err := s.AcquireN(ctx, want)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if out += want; out > size {
						t.Errorf("%d permits of %d", out, size)
					}
					mu.Unlock()
					if (j+n)%4 == 0 {
						time.Sleep(2 * time.Millisecond)
					}
					mu.Lock()
					out -= want
					mu.Unlock()
					if err := l.Release(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
}
