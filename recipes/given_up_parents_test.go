package recipes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// Calls give up at any time, most of them while their parent nodes are created. The servers do
// not remove a container that never had a child, so the client does.
func TestACallThatGivesUpLeavesNoParents(t *testing.T) {
	for name, call := range map[string]func(context.Context, *recipes.Client, string) error{
		"mutex": func(ctx context.Context, c *recipes.Client, path string) error {
			_, err := recipes.NewMutex(c, path).Acquire(ctx)
			return err
		},
		"multi-lock": func(ctx context.Context, c *recipes.Client, path string) error {
			_, err := recipes.NewMultiLock(recipes.NewMutex(c, path), recipes.NewMutex(c, path+"/b")).Acquire(ctx)
			return err
		},
		"semaphore": func(ctx context.Context, c *recipes.Client, path string) error {
			_, err := recipes.NewSemaphore(c, path, 2).Acquire(ctx)
			return err
		},
		"double barrier": func(ctx context.Context, c *recipes.Client, path string) error {
			return recipes.NewDoubleBarrier(c, path, 2).Enter(ctx)
		},
		"barrier": func(ctx context.Context, c *recipes.Client, path string) error {
			err := recipes.NewBarrier(c, path).Set(ctx)
			if err == nil {
				err = context.Canceled
			}
			_ = recipes.NewBarrier(c, path).Remove(context.Background()) // after an error the barrier may be up
			return err
		},
	} {
		for _, breaks := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, the connection breaks: %v", name, breaks), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := zktest.Start(t)
					c := bubbleClient(t, e, "client")
					gaveUp := 0
					for i := range 60 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
						if breaks {
							time.AfterFunc(time.Duration(i)*70*time.Microsecond, e.Client("client").Disconnect)
						}
						if call(ctx, c, fmt.Sprintf("/parent-%d/lock", i)) != nil {
							gaveUp++
						}
						cancel()
						time.Sleep(time.Second)
					}
					time.Sleep(time.Minute) // Close ends what goes on in the background
					_ = c.Close(t.Context())
					if gaveUp < 20 {
						t.Errorf("%d of 60 have given up", gaveUp)
					}
					for range 5 { // the servers remove containers each minute
						if time.Sleep(time.Minute); !strings.Contains(e.Tree("/"), "/parent") {
							return
						}
					}
					t.Errorf("left:\n%s", e.Tree("/"))
				})
			})
		}
	}
}
