package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// The transaction that creates the nodes of a multi-lock is carried out, its reply is lost with
// the connection, and another client deletes one of the nodes before the client looks for them.
// The other node remains: the client must neither wait for it nor leave it behind.
func TestAPartOfAMultiLockIsDeletedWhoseReplyIsLost(t *testing.T) {
	for _, deleted := range []string{"/a", "/b"} {
		t.Run(deleted, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				both, wire := interceptedClient(t, e, "both")
				admin := bubbleClient(t, e, "admin").Conn()
				acquire := recipes.NewMultiLock(recipes.NewMutex(both, "/a"), recipes.NewMutex(both, "/b")).Acquire
				first, err := acquire(t.Context()) // the parents are there
				if err != nil {
					t.Fatal(err)
				}
				if err := first.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				lost := false
				wire.on(nil, once(opMulti, func() bool {
					for _, node := range e.Children(deleted) {
						if err := admin.Delete(deleted+"/"+node, -1); err != nil {
							t.Error(err)
						}
					}
					lost = true
					return false
				}))
				began := time.Now()
				lease, err := acquire(within(t))
				if err != nil {
					t.Fatalf("%v, after %v; the nodes are:\n%s", err, time.Since(began), e.Tree("/"))
				}
				time.Sleep(time.Second) // the remaining node is deleted in the background
				if !lost || len(e.Children("/a")) != 1 || len(e.Children("/b")) != 1 {
					t.Errorf("lost: %v; the nodes are:\n%s", lost, e.Tree("/"))
				}
				for _, part := range lease.Leases() {
					if _, there := e.Node(part.Node()); !there || !part.Valid() {
						t.Errorf("%s, which is valid: %v, is there: %v", part.Node(), part.Valid(), there)
					}
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
