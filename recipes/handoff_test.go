package recipes_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

func TestALocalHandoffIsExclusiveAndItsTokensGrow(t *testing.T) {
	path := uniquePath(t)
	a, b := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	ctx := within(t)
	var mu sync.Mutex
	var last recipes.Token
	inside := 0
	nodes := map[string]int{} // leases by lock node
	var wg sync.WaitGroup
	for i := range 40 {
		c := a
		if i%2 == 1 {
			c = b
		}
		m := recipes.NewMutex(c, path, recipes.WithLocalHandoff(4))
		wg.Go(func() {
			for range 3 {
				err := m.Do(ctx, func(_ context.Context, l *recipes.Lease) error {
					mu.Lock()
					if inside++; inside != 1 {
						t.Errorf("%d holders", inside)
					}
					if l.Token().Compare(last) <= 0 {
						t.Errorf("token %v after %v", l.Token(), last)
					}
					last = l.Token()
					nodes[l.Node()]++
					mu.Unlock()
					mu.Lock()
					inside--
					mu.Unlock()
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for node, n := range nodes {
		if n > 5 {
			t.Errorf("%s was handed on %d times, not 4 at most", node, n-1)
		}
	}
	if len(nodes) == 120 {
		t.Error("nothing was ever handed on")
	}
	eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), path)) == 0 })
}

// TestAHandoffGivesOthersTheirTurn: another client waits at most for the number of hand-overs
// that was set.
func TestAHandoffGivesOthersTheirTurn(t *testing.T) {
	path := uniquePath(t)
	a, b := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	m := recipes.NewMutex(a, path, recipes.WithLocalHandoff(2))
	l := acquire(t, within(t), m)
	other := acquiring(within(t), recipes.NewMutex(b, path))
	eventually(t, "the other client queues", func() bool { return len(contenders(t, admin(t), path)) == 2 })
	var mu sync.Mutex
	var order []string
	var wg sync.WaitGroup
	take := func(who string, r result) {
		if r.err != nil {
			t.Error(r.err)
			return
		}
		mu.Lock()
		order = append(order, who)
		mu.Unlock()
		if err := r.lease.Release(context.Background()); err != nil {
			t.Error(err)
		}
	}
	wg.Go(func() { take("other", <-other) })
	for range 5 {
		w := acquiring(within(t), m)
		wg.Go(func() { take("own", <-w) })
	}
	release(t, l)
	wg.Wait()
	if i := slices.Index(order, "other"); i < 0 || i > 2 || len(order) != 6 {
		t.Errorf("granted to %v", order)
	}
}

func TestACancelledFollowerLeavesTheHandoffToTheNext(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	m := recipes.NewMutex(c, path, recipes.WithLocalHandoff(8))
	l := acquire(t, within(t), m)
	for range 50 { // the cancel races with the release
		ctx, cancel := context.WithCancel(within(t))
		cancelled, waiting := acquiring(ctx, m), acquiring(within(t), m)
		go cancel()
		release(t, l)
		if r := <-cancelled; r.err == nil {
			release(t, r.lease)
		}
		l = (<-waiting).ok(t)
	}
	release(t, l)
	eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), path)) == 0 })
}

func TestTheHandoffSurvivesTheEndOfItsSession(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	m := recipes.NewMutex(c, path, recipes.WithLocalHandoff(8))
	l := acquire(t, within(t), m)
	waiting := acquiring(within(t), m)
	expire(t, &wire)
	next := (<-waiting).ok(t)
	if next.SessionID() == l.SessionID() {
		t.Error("granted in the session that has ended")
	}
	<-l.Lost()
	release(t, next)
	eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), path)) == 0 })
}

func TestATryOfALockThatItsOwnClientHandsOnIsRefused(t *testing.T) {
	m := recipes.NewMutex(connect(t, addrsOf(t)), uniquePath(t), recipes.WithLocalHandoff(3))
	l := acquire(t, within(t), m)
	if got, err := m.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("got %v, %v", got, err)
	}
	release(t, l)
	again, err := m.TryAcquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	release(t, again)
}
