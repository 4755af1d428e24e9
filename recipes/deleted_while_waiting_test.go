package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// No watch reports the deletion of a node that stands behind a node of its own session. When the
// lease ahead is released, the lock is granted without a request to the servers: by then the
// client has to know that the node is gone.
func TestAWaiterWhoseNodeWasDeletedIsNotGrantedTheLockForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		const timeout = 2 * time.Second
		client := func(name string) *recipes.Client {
			return bubbleClient(t, e, name, recipes.WithSessionTimeout(timeout))
		}
		shared := client("shared")
		first, err := recipes.NewMutex(shared, "/lock").Acquire(recipes.WithOwner(t.Context(), "first"))
		if err != nil {
			t.Fatal(err)
		}
		granted := make(chan *recipes.Lease)
		go func() { // ends when the lock is granted to it
			second, err := recipes.NewMutex(shared, "/lock").Acquire(recipes.WithOwner(t.Context(), "second"))
			if err != nil {
				t.Error(err)
			}
			granted <- second
		}()
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		queue := e.Children("/lock")
		if len(queue) != 2 {
			t.Fatalf("the queue is %v", queue)
		}
		deleted := "/lock/" + queue[1]
		if deleted == first.Node() {
			deleted = "/lock/" + queue[0]
		}
		admin := client("admin")
		if err := admin.Conn().Delete(deleted, -1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(timeout)
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := <-granted
		if _, there := e.Node(second.Node()); !there || second.Node() == deleted {
			t.Errorf("the lock was granted for %s, which was deleted %v before", second.Node(), timeout)
		}
		if err := second.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A waiter whose node is deleted takes another place by its next heartbeats, long before the
// holder releases, under any rule.
func TestAWaiterWhoseNodeWasDeletedTakesAnotherPlace(t *testing.T) {
	for name, options := range map[string][]recipes.LockOption{
		"first come, first served": nil,
		"a rule of its own":        {recipes.WithGrantRule(func(_ []recipes.Place, self int) int { return self - 1 })},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				const timeout = 2 * time.Second
				client := func(name string) *recipes.Client {
					return bubbleClient(t, e, name, recipes.WithSessionTimeout(timeout))
				}
				held := acquire(t, within(t), recipes.NewMutex(client("holder"), "/lock", options...))
				waiting := acquiring(within(t), recipes.NewMutex(client("waiter"), "/lock", options...))
				time.Sleep(100 * time.Millisecond)
				place := func() string {
					for _, node := range e.Children("/lock") {
						if "/lock/"+node != held.Node() {
							return node
						}
					}
					return ""
				}
				deleted := place()
				if err := client("admin").Conn().Delete("/lock/"+deleted, -1); err != nil {
					t.Fatal(err)
				}
				time.Sleep(timeout)
				if now := place(); now == "" || now == deleted {
					t.Fatalf("a session timeout later its place is %q", now)
				}
				release(t, held)
				l := (<-waiting).ok(t)
				if _, there := e.Node(l.Node()); !there {
					t.Errorf("it is granted the lock for %s, which is not there", l.Node())
				}
				release(t, l)
			})
		})
	}
}
