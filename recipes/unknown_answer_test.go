package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// Servers have errors that go-zookeeper does not know: a quota that is enforced, local
// sessions that must not be upgraded, requests that are throttled. They are answers: a call
// returns them at once, and does not ask again and again.
func TestAnErrorThatTheClientLibraryDoesNotKnowIsAnAnswer(t *testing.T) {
	const localSession, quotaExceeded, throttled = -120, -125, -127
	for name, call := range map[string]struct {
		op   int32
		call func(context.Context, *recipes.Client) error
	}{
		"an acquire": {opCreate, func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewMutex(c, "/lock").Acquire(ctx)
			return err
		}},
		"an acquire of several locks": {opMulti, func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewMultiLock(recipes.NewMutex(c, "/lock"), recipes.NewMutex(c, "/other")).Acquire(ctx)
			return err
		}},
		"an acquire of permits": {opMulti, func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewSemaphore(c, "/permits", 2).Acquire(ctx)
			return err
		}},
		"a barrier": {opCreate, func(ctx context.Context, c *recipes.Client) error { return recipes.NewBarrier(c, "/barrier").Set(ctx) }},
		"a double barrier": {opCreate, func(ctx context.Context, c *recipes.Client) error {
			return recipes.NewDoubleBarrier(c, "/double", 1).Enter(ctx)
		}},
		"a shared count": {opSetData, func(ctx context.Context, c *recipes.Client) error {
			return recipes.NewSharedCount(c, "/count", 1).Set(ctx, 2)
		}},
	} {
		for _, code := range []int32{localSession, quotaExceeded, throttled} {
			t.Run(fmt.Sprintf("%s, error %d", name, code), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, wire := interceptedClient(t, zktest.Start(t), "client")
					refused := 0
					wire.on(func(op int32) bool {
						if op == call.op {
							refused++
							return wire.refuseWith(code)
						}
						return true
					}, nil)
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					err := call.call(ctx, c)
					wire.on(nil, nil)
					if err == nil || errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("it returns %v after %d requests", err, refused)
					}
				})
			})
		}
	}
}
