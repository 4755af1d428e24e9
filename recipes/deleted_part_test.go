package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A multi-lock stands in several queues and waits in one of them at a time. When its node in
// another queue is deleted meanwhile, it must not be granted the lock of that queue, neither if
// it looks at that queue later nor if its turn there had come before.
func TestAMultiLockIsNotGrantedALockWhoseNodeWasDeleted(t *testing.T) {
	for name, held := range map[string][]string{
		"its turn comes later":    {"/a", "/b"},
		"its turn had come there": {"/a"},
		"and in the other order":  {"/b"},
	} {
		for _, deleted := range []string{"/a", "/b"} {
			t.Run(name+", "+deleted, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { deletePart(t, held, deleted) })
			})
		}
	}
}

func deletePart(t *testing.T, held []string, deleted string) {
	e := zktest.Start(t)
	const timeout = 2 * time.Second
	client := func(name string) *recipes.Client {
		return bubbleClient(t, e, name, recipes.WithSessionTimeout(timeout))
	}
	others, both, admin := client("others"), client("both"), client("admin")
	ahead := make(map[string]*recipes.Lease)
	for _, path := range held {
		lease, err := recipes.NewMutex(others, path).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ahead[path] = lease
	}
	granted := make(chan *recipes.MultiLease)
	go func() { // ends when the locks are granted to it
		lease, err := recipes.NewMultiLock(recipes.NewMutex(both, "/a"), recipes.NewMutex(both, "/b")).Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		granted <- lease
	}()
	synctest.Wait()
	time.Sleep(100 * time.Millisecond)
	node := ""
	for _, child := range e.Children(deleted) {
		if path := deleted + "/" + child; ahead[deleted] == nil || path != ahead[deleted].Node() {
			node = path
		}
	}
	if err := admin.Conn().Delete(node, -1); err != nil {
		t.Fatal(err)
	}
	time.Sleep(timeout)
	for _, path := range held {
		if err := ahead[path].Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lease := <-granted
	for _, part := range lease.Leases() {
		if _, there := e.Node(part.Node()); !there {
			t.Errorf("the lock was granted for %s, which is not there", part.Node())
		}
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// A multi-lock whose turn has come everywhere finds that the node of its second part has been
// deleted, when it holds the first: it releases the first lock, and leaves the queue of the third
// as well. Otherwise its own node would block its next attempt.
func TestAMultiLockThatLostAPartLeavesEveryQueue(t *testing.T) {
	for range 8 { // a heartbeat looks at one of the three nodes at a time, and four come
		synctest.Test(t, func(t *testing.T) {
			e := zktest.Start(t)
			client := func(name string) *recipes.Client {
				return bubbleClient(t, e, name, recipes.WithSessionTimeout(time.Minute))
			}
			ahead, err := recipes.NewMutex(client("other"), "/c").Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all := client("all")
			granted := make(chan *recipes.MultiLease)
			go func() { // ends when the locks are granted to it
				lease, err := recipes.NewMultiLock(recipes.NewMutex(all, "/a"), recipes.NewMutex(all, "/b"), recipes.NewMutex(all, "/c")).Acquire(t.Context())
				if err != nil {
					t.Error(err)
				}
				granted <- lease
			}()
			time.Sleep(time.Second)
			if err := client("admin").Conn().Delete("/b/"+e.Children("/b")[0], -1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(42 * time.Second) // its knowledge of its turn is still valid
			if err := ahead.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			lease := <-granted
			for _, part := range lease.Leases() {
				queue := e.Children(part.Path())
				if len(queue) == 0 && part.Path() == "/b" {
					continue // no heartbeat has looked at it yet: the next one reports the loss
				}
				if len(queue) != 1 || part.Path()+"/"+queue[0] != part.Node() {
					t.Errorf("it holds %s, and the queue is %v", part.Node(), queue)
				}
			}
			_ = lease.Release(t.Context()) // of a lease that may be lost
		})
	}
}
