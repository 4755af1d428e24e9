package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A list is larger than a client accepts. The call that needs it returns an error at once; the
// connection, and other leases of the client, stay; and the client does not repeat the request.
func TestAListThatIsTooLargeIsToldAndHarmsNothingElse(t *testing.T) {
	for name, call := range map[string]func(context.Context, *recipes.Client) error{
		"mutex": func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewMutex(c, "/large").Acquire(ctx)
			return err
		},
		"participants": func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewMutex(c, "/large").Participants(ctx)
			return err
		},
		"leader": func(ctx context.Context, c *recipes.Client) error {
			_, err := recipes.NewElection(c, "/large").Leader(ctx)
			return err
		},
		"double barrier": func(ctx context.Context, c *recipes.Client) error {
			return recipes.NewDoubleBarrier(c, "/large", 2).Enter(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				planter := bubbleClient(t, e, "planter")
				if _, err := planter.Conn().Create("/large", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
					t.Fatal(err)
				}
				for i := range 200 {
					if _, err := planter.Conn().Create(fmt.Sprintf("/large/some-child-with-a-long-name-%04d", i), nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
						t.Fatal(err)
					}
				}
				wire := &intercept{through: e.Client("client").DialContext}
				var states atomic.Int32
				c := bubbleClient(t, e, "client", recipes.WithDialer(wire.dial), recipes.WithJuteMaxBuffer(1<<12),
					recipes.WithConnectionListener(func(recipes.ConnectionState) { states.Add(1) }))
				other, err := recipes.NewMutex(c, "/other").Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var lists atomic.Int32
				wire.on(func(op int32) bool {
					if op == opChildren {
						lists.Add(1)
					}
					return true
				}, nil)
				began := time.Now()
				if err := call(t.Context(), c); !errors.Is(err, recipes.ErrTooLarge) || time.Since(began) > time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				time.Sleep(time.Minute)
				if err := other.Err(); err != nil || states.Load() != 1 || lists.Load() > 3 {
					t.Errorf("another lease: %v; %d changes of the connection, %d lists", err, states.Load(), lists.Load())
				}
				if left := len(e.Children("/large")); left != 200 {
					t.Errorf("%d children instead of 200", left)
				}
				if err := other.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
