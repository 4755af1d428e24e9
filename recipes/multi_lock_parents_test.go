package recipes_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A multi-lock that finds one parent missing creates it, and does not pause for each of the others
// that it finds in place: with seven of them the pauses would add up to ten seconds.
func TestAMultiLockWithOneMissingParentIsNotSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "client")
		defer c.Close(t.Context())
		var locks []recipes.Lock
		for i := range 7 {
			m := recipes.NewMutex(c, fmt.Sprintf("/parent-%d", i))
			if i < 6 {
				lease, err := m.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			locks = append(locks, m)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		lease, err := recipes.NewMultiLock(locks...).Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
