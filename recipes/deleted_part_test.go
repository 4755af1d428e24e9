package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A multi-lock stands in several queues and waits in one of them at a time. When its node
// in another one is deleted in the meantime it must not be granted that lock for it: neither
// if it is asked about that queue later, nor if its turn there had come before.
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
