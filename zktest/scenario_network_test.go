package zktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// The answer to the acquire is lost: the servers have created the lock's node and the client does
// not know. It has to find the node, and must not create another.
func TestTheAnswerToMyAcquireIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		client := connect(t, e, "one")
		if err := acquire(t, client, "/ledger").Release(t.Context()); err != nil { // the lock's path exists
			t.Fatal(err)
		}

		e.Client("one").CutReplies()
		heal := time.AfterFunc(500*time.Millisecond, func() {
			if n := len(e.Children("/ledger")); n != 1 {
				t.Errorf("the servers have %d nodes of the request", n)
			}
			e.Client("one").Heal()
		})
		defer heal.Stop()
		acquire(t, client, "/ledger")
		if queue := e.Children("/ledger"); len(queue) != 1 {
			t.Errorf("the client has made %d nodes: %v", len(queue), queue)
		}
	})
}

// The network fails for less than the session timeout: the lock is kept.
func TestAShortCutKeepsTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		lease := acquire(t, connect(t, e, "one"), "/ledger")
		e.Client("one").Cut()
		time.Sleep(timeout / 2)
		e.Client("one").Heal()
		time.Sleep(3 * timeout)
		if !lease.Valid() {
			t.Errorf("the lease is lost: %v", lease.Err())
		}
	})
}

// The network is slow: the lock is kept.
func TestASlowNetworkKeepsTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		e.Client("one").Delay(50 * time.Millisecond)
		began := time.Now()
		lease := acquire(t, connect(t, e, "one"), "/ledger")
		if took := time.Since(began); took < 200*time.Millisecond {
			t.Errorf("two requests have taken %v", took)
		}
		time.Sleep(3 * timeout)
		if !lease.Valid() {
			t.Errorf("the lease is lost: %v", lease.Err())
		}
	})
}

// My service waits for a lock whose holder is cut off, and is stopped: its place in the queue is
// deleted with it.
func TestMyServiceIsStoppedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		acquire(t, connect(t, e, "one"), "/ledger")
		two := connect(t, e, "two")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := recipes.NewMutex(two, "/ledger").Acquire(ctx); err == nil {
			t.Fatal("two clients hold the lock")
		}
		time.Sleep(time.Second)
		if queue := e.Children("/ledger"); len(queue) != 1 {
			t.Errorf("in the queue are\n%s", e.Tree("/ledger"))
		}
	})
}
