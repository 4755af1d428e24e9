package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// TestAChangeOfWhatACallHasReadDelaysItNoLongerThanItLasts : another client sets a shared count
// just before each write of a call that needs it unchanged, eight times in a row. A server that
// contradicts itself is asked less and less often; this is none. The call reads again what has
// changed, and nothing else.
func TestAChangeOfWhatACallHasReadDelaysItNoLongerThanItLasts(t *testing.T) {
	const times = 8
	for name, c := range map[string]struct {
		write int32
		reads int // after each change
		call  func(context.Context, *recipes.Client) error
	}{
		"a count is set": {opSetData, 2, func(ctx context.Context, c *recipes.Client) error {
			return recipes.NewSharedCount(c, "/count", 1).Set(ctx, 4)
		}},
		"permits are taken": {opMulti, 1, takePermits},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				another := bubbleClient(t, e, "other")
				other := recipes.NewSharedCount(another, "/count", 1)
				set := func(n int) {
					if err := other.Set(context.Background(), n); err != nil {
						t.Error(err)
					}
				}
				set(1)
				if err := takePermits(t.Context(), another); err != nil { // its nodes have a parent now
					t.Fatal(err)
				}
				client, wire := interceptedClient(t, e, "client", recipes.WithSessionTimeout(time.Minute))
				changed, reads, began := 0, 0, time.Now()
				wire.on(func(op int32) bool {
					if op != c.write && 0 < changed && changed < times {
						reads++
					}
					if op == c.write && changed < times {
						changed++
						set(2 + changed%2)
					}
					return true
				}, nil)
				if err := c.call(t.Context(), client); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); changed < times || took > 200*time.Millisecond {
					t.Errorf("it took %v, with %d changes", took, changed)
				}
				if reads != c.reads*(times-1) {
					t.Errorf("%d reads between %d changes", reads, times)
				}
			})
		})
	}
}

func takePermits(ctx context.Context, c *recipes.Client) error {
	lease, err := recipes.NewSharedSemaphore(c, "/semaphore", recipes.NewSharedCount(c, "/count", 1)).Acquire(ctx)
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}
