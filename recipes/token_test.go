package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// TestATokenIsTheTransactionThatCreatedTheLockNode: the token is read from the header of the
// reply, which must have the number of that transaction also when the server carries out many at
// the same time.
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

// TestAPlaceWhoseCreateWasNotAnsweredIsAnnouncedWithItsToken: the reply with the token is lost,
// so the token is not read from a header.
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

// The client matches the reply to a create with its request. An answer to an authentication that
// comes too early makes the session forget all requests before it. Then the client reads the
// token from the node itself. If the node has been deleted meanwhile, the other nodes created
// with it are deleted as well.
func TestATokenThatTheReplyDoesNotTellIsThatOfTheNode(t *testing.T) {
	for name, test := range map[string]struct {
		op      int32
		dir     string // of the nodes that have the token
		nodes   int
		acquire func(context.Context, *recipes.Client) (*recipes.Lease, error)
	}{
		"a mutex": {opCreate, "/a", 1, func(ctx context.Context, c *recipes.Client) (*recipes.Lease, error) {
			return recipes.NewMutex(c, "/a").Acquire(ctx)
		}},
		"two permits": {opMulti, "/a/leases", 2, func(ctx context.Context, c *recipes.Client) (*recipes.Lease, error) {
			return recipes.NewSemaphore(c, "/a", 2).AcquireN(ctx, 2)
		}},
	} {
		for when, deletes := range map[string]bool{"it is there": false, "another client deletes it": true} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := zktest.Start(t)
					c, wire := interceptedClient(t, e, "one")
					other := bubbleClient(t, e, "other")
					l, err := test.acquire(within(t), c) // creates the parents
					if err != nil {
						t.Fatal(err)
					}
					release(t, l)
					goOn := make(chan struct{})
					held := wire.holdBack(test.op, goOn)
					done := make(chan result, 1)
					go func() {
						l, err := test.acquire(within(t), c)
						done <- result{l, err}
					}()
					<-held
					if err := c.Conn().AddAuth("digest", []byte("user:password")); err != nil {
						t.Fatal(err)
					}
					asked := false
					wire.on(once(opExists, func() bool {
						asked = true
						if deletes {
							if err := other.Conn().Delete(test.dir+"/"+e.Children(test.dir)[0], -1); err != nil {
								t.Error(err)
							}
						}
						return true
					}), nil)
					wire.holdBack(0, nil)
					close(goOn)
					l = (<-done).ok(t)
					time.Sleep(time.Second) // in which remaining nodes are deleted
					node, there := e.Node(l.Node())
					if left := e.Children(test.dir); !asked || !there || l.Token() != (recipes.Token{Zxid: node.Czxid}) || len(left) != test.nodes {
						t.Errorf("asked: %v; token %v of %+v; there are %v", asked, l.Token(), node, left)
					}
					release(t, l)
				})
			})
		}
	}
}
