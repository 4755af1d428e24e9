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
// contradicts itself is asked less and less often; this is none.
func TestAChangeOfWhatACallHasReadDelaysItNoLongerThanItLasts(t *testing.T) {
	const times = 8
	for name, c := range map[string]struct {
		write int32
		call  func(context.Context, *recipes.Client) error
	}{
		"a count is set": {opSetData, func(ctx context.Context, c *recipes.Client) error {
			return recipes.NewSharedCount(c, "/count", 1).Set(ctx, 4)
		}},
		"permits are taken": {opMulti, func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewSharedSemaphore(c, "/semaphore", recipes.NewSharedCount(c, "/count", 1)).Acquire(ctx)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				other := recipes.NewSharedCount(bubbleClient(t, e, "other"), "/count", 1)
				set := func(n int) {
					if err := other.Set(context.Background(), n); err != nil {
						t.Error(err)
					}
				}
				set(1)
				client, wire := interceptedClient(t, e, "client", recipes.WithSessionTimeout(time.Minute))
				changed, began := 0, time.Now()
				wire.on(func(op int32) bool {
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
			})
		})
	}
}
