package recipes_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// Another client deletes a client's only node while the client waits. A heartbeat finds that out,
// and then there is no node left for heartbeats to write. When its turn seems to come the
// session's last evidence is too old for a lease, and nothing renews it: the acquire must take
// another place instead of waiting for evidence.
func TestAWaiterWhoseNodeWasDeletedIsNotLeftWithoutEvidence(t *testing.T) {
	const timeout, tick = 2 * time.Second, time.Second // a lease is good for about half a second
	const looks = timeout * 3 / 4                      // interval at which a waiter looks at the queue
	type acquire func(*recipes.Client) func(context.Context) (func(context.Context) error, error)
	for name, acquire := range map[string]acquire{
		"mutex": func(c *recipes.Client) func(context.Context) (func(context.Context) error, error) {
			return givingBack(recipes.NewMutex(c, "/lock").Acquire)
		},
		"with local hand-off": func(c *recipes.Client) func(context.Context) (func(context.Context) error, error) {
			return givingBack(recipes.NewMutex(c, "/lock", recipes.WithLocalHandoff(3)).Acquire)
		},
		"reader": func(c *recipes.Client) func(context.Context) (func(context.Context) error, error) {
			return givingBack(recipes.NewReadWriteMutex(c, "/lock").Read().Acquire)
		},
		"multi-lock": func(c *recipes.Client) func(context.Context) (func(context.Context) error, error) {
			return givingBack(recipes.NewMultiLock(recipes.NewMutex(c, "/lock")).Acquire)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t, zktest.Tick(tick))
				client := func(name string) *recipes.Client {
					return bubbleClient(t, e, name, recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
				}
				var ahead interface {
					Node() string
					Release(context.Context) error
				}
				var err error
				if name == "reader" {
					ahead, err = recipes.NewReadWriteMutex(client("holder"), "/lock").Write().Acquire(t.Context())
				} else {
					ahead, err = recipes.NewMutex(client("holder"), "/lock").Acquire(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				waiter, admin := client("waiter"), client("admin").Conn()
				granted := make(chan func(context.Context) error)
				go func() { // ends when the lock is granted to it, or its context ends
					give, err := acquire(waiter)(within(t))
					if err != nil {
						t.Error(err)
						give = func(context.Context) error { return nil }
					}
					granted <- give
				}()
				synctest.Wait()
				time.Sleep(3*looks + 100*time.Millisecond) // the beginning of the session is too old to be evidence
				queue := slices.DeleteFunc(e.Children("/lock"), func(node string) bool { return "/lock/"+node == ahead.Node() })
				if len(queue) != 1 {
					t.Fatalf("%v wait", queue)
				}
				if err := admin.Delete("/lock/"+queue[0], -1); err != nil {
					t.Fatal(err)
				}
				time.Sleep(looks - 300*time.Millisecond) // the evidence is too old, and the queue is not looked at again yet
				if err := ahead.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				give := <-granted
				if took := time.Since(began); took > timeout {
					t.Errorf("the lock was free, and was granted %v later", took)
				}
				if err := give(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// givingBack returns an acquire that returns the lease's Release.
func givingBack[L interface{ Release(context.Context) error }](acquire func(context.Context) (L, error)) func(context.Context) (func(context.Context) error, error) {
	return func(ctx context.Context) (func(context.Context) error, error) {
		l, err := acquire(ctx)
		if err != nil {
			return nil, err
		}
		return l.Release, nil
	}
}
