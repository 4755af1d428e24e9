package recipes_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// The transaction that ends a session has the paths of all its nodes. Servers read no transaction
// of more than twice their jute.maxbuffer (ZOOKEEPER-4306).

const smallBuffer = 1 << 12

// TestASessionHasNoMoreNodesThanServersCanEnd: each kind of node counts, a deleted node does not,
// and a refusal harms no other lease.
func TestASessionHasNoMoreNodesThanServersCanEnd(t *testing.T) {
	for name, test := range map[string]struct {
		dir  string // of the nodes
		call func(context.Context, *recipes.Client) error
	}{
		"contenders": {"/full", func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewMutex(c, "/full").Acquire(ctx)
			return err
		}},
		"candidates": {"/full", func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewElection(c, "/full").Campaign(ctx)
			return err
		}},
		"permits": {"/full/leases", func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewSemaphore(c, "/full", 1000).AcquireN(ctx, 7)
			return err
		}},
		"members": {"/full", func(ctx context.Context, c *recipes.Client) error {
			return recipes.NewDoubleBarrier(c, "/full", 1000).Enter(ctx)
		}},
		"several locks": {"/full", func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewMultiLock(recipes.NewMutex(c, "/full"), recipes.NewMutex(c, "/full-too")).Acquire(ctx)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				c := bubbleClient(t, e, "client", recipes.WithJuteMaxBuffer(smallBuffer))
				other, err := recipes.NewMutex(c, "/other").Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				var calls sync.WaitGroup
				for full := false; !full; {
					done := make(chan error, 1)
					calls.Go(func() { done <- test.call(ctx, c) })
					select {
					case err := <-done:
						if full = err != nil; full && !errors.Is(err, recipes.ErrTooLarge) {
							t.Fatal(err)
						}
					case <-time.After(50 * time.Millisecond): // it waits for other contenders
					}
					if len(e.Children(test.dir)) > smallBuffer {
						t.Fatal("it has no limit")
					}
				}
				bytes, nodes := 0, 0
				for _, dir := range []string{"/full", "/full/leases", "/full/locks", "/full-too"} {
					for _, child := range e.Children(dir) {
						if strings.ContainsRune(child, '-') { // a guid
							nodes, bytes = nodes+1, bytes+4+len(dir+"/"+child)
						}
					}
				}
				if nodes < 20 || bytes > 2*smallBuffer {
					t.Errorf("it has %d nodes of %d bytes when it is full", nodes, bytes)
				}
				if err := other.Err(); err != nil {
					t.Errorf("another lease: %v", err)
				}
				cancel()
				calls.Wait()
				if err := other.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestASemaphoreHasNoMorePermitsOutThanAListHasRoomFor: the acquire that would make the list too
// large is refused, so that other clients can still count the permits, and succeeds when permits
// have been released.
func TestASemaphoreHasNoMorePermitsOutThanAListHasRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		const most, each = (smallBuffer - 88) / (4 + 56), 10
		semaphores := make([]*recipes.Semaphore, most/each+1)
		for i := range semaphores {
			semaphores[i] = recipes.NewSemaphore(bubbleClient(t, e, fmt.Sprint("client-", i), recipes.WithJuteMaxBuffer(smallBuffer)), "/full", 10*most)
		}
		var first *recipes.Lease
		for i, s := range semaphores {
			began := time.Now()
			l, err := s.AcquireN(t.Context(), each)
			if i < most/each {
				if first = cmp.Or(first, l); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if !errors.Is(err, recipes.ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprintf("a list of permits has room for %d, and %d are out", most, i*each)) || time.Since(began) > time.Second {
				t.Errorf("the list is full: %v, %v after %v", l, err, time.Since(began))
			}
			if l, err := s.AcquireN(t.Context(), most%each); err != nil { // for which there is room
				t.Error(err)
			} else {
				release(t, l)
			}
			release(t, first)
			if _, err := s.AcquireN(t.Context(), each); err != nil {
				t.Errorf("after a release: %v", err)
			}
		}
		if n := len(e.Children("/full/leases")); n > most || len(e.Children("/full/locks")) > 0 {
			t.Errorf("%d permits are out, and %v wait", n, e.Children("/full/locks"))
		}
	})
}

// TestServersStartAfterASessionThatWasFull: real servers can read the transactions that they have
// written.
func TestServersStartAfterASessionThatWasFull(t *testing.T) {
	needReal(t, "ZooKeeper reads its own log")
	const buffer = 1 << 15
	own := ensembletest.Start(t, ensemble.LocalConfig{Servers: 1, TickTime: tick, Properties: []string{"jute.maxbuffer=32768"}})
	c := connect(t, addressesOf(own), recipes.WithJuteMaxBuffer(buffer))
	m := recipes.NewMutex(c, uniquePath(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refused := make(chan error, 1)
	var calls sync.WaitGroup
	for range 2 * buffer / 40 {
		calls.Go(func() {
			if _, err := m.Acquire(ctx); err != nil {
				select {
				case refused <- err:
				default:
				}
			}
		})
	}
	if err := <-refused; !errors.Is(err, recipes.ErrTooLarge) {
		t.Fatal(err)
	}
	if err := c.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	calls.Wait()
	for _, s := range own.Servers() {
		if err := own.Kill(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
		if err := own.Restart(t.Context(), s.ID); err != nil {
			t.Fatalf("the server does not start again: %v", err)
		}
	}
	release(t, acquire(t, within(t), recipes.NewMutex(connect(t, addressesOf(own)), uniquePath(t))))
}
