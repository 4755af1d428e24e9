package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// TestATokenIsTheTransactionThatCreatedTheLockNode : it is read from the header
// of the reply, which must be that transaction's also when the server carries
// out many at the same time.
func TestATokenIsTheTransactionThatCreatedTheLockNode(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	ctx := within(t)
	var wg sync.WaitGroup
	for range 3 {
		c := connect(t, addrsOf(t))
		for i := range 20 {
			wg.Go(func() {
				locks := []recipes.Lock{
					recipes.NewMutex(c, fmt.Sprintf("%s/mutex-%d", path, i)),
					recipes.NewReadWriteMutex(c, fmt.Sprintf("%s/rw-%d", path, i)).Read(),
					recipes.NewSemaphore(c, fmt.Sprintf("%s/semaphore-%d", path, i), 3),
				}
				for range 5 {
					multi, err := recipes.NewMultiLock(locks...).Acquire(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					single, err := recipes.NewMutex(c, fmt.Sprintf("%s/single-%d", path, i)).Acquire(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					for _, l := range append(multi.Leases(), single) {
						ok, stat, err := conn.Exists(l.Node())
						if err != nil || !ok {
							t.Errorf("%s: %v, %v", l.Node(), ok, err)
						} else if l.Token() != (recipes.Token{Zxid: stat.Czxid}) {
							t.Errorf("%s: token %v, czxid 0x%x", l.Node(), l.Token(), stat.Czxid)
						}
					}
					if err := errors.Join(single.Release(ctx), multi.Release(ctx)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestAPlaceWhoseCreateWasNotAnsweredIsAnnouncedWithItsToken : the reply that
// would have told it is lost, and nothing of it is read from a header.
func TestAPlaceWhoseCreateWasNotAnsweredIsAnnouncedWithItsToken(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	var mu sync.Mutex
	var announced []recipes.Token
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithObserver(recipes.Observer{
		Enqueued: func(_ context.Context, e recipes.Enqueued) {
			mu.Lock()
			defer mu.Unlock()
			announced = append(announced, e.Token)
		},
	}))
	release(t, acquire(t, within(t), recipes.NewMutex(c, path)))
	wire.on(nil, once(opCreate, cut))
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	mu.Lock()
	defer mu.Unlock()
	if len(announced) != 2 || announced[1] != l.Token() || l.Token().IsZero() {
		t.Errorf("announced %v, granted with %v", announced, l.Token())
	}
	release(t, l)
}
