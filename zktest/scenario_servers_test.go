package zktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// The leader is killed between the grant and my write: the write has to be guarded by
// the lock, and be tried again for as long as the lease lasts. The lock outlives the
// leader.
func TestTheLeaderIsKilledBetweenTheGrantAndMyWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		client := connect(t, e, "one")
		lease := acquire(t, client, "/orders")
		e.Kill(e.Leader())

		create := &zk.CreateRequest{Path: "/order-1", Data: []byte("paid"), Acl: zk.WorldACL(zk.PermAll)}
		for lease.Valid() {
			_, err := lease.Multi(t.Context(), create)
			if err == nil || errors.Is(err, zk.ErrNodeExists) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if order, _ := e.Node("/order-1"); string(order.Data) != "paid" || order.Czxid < lease.Token().Zxid {
			t.Errorf("the order is %+v; the lease is lost: %v", order, lease.Err())
		}
	})
}

// The server that my client is connected to dies: the client continues at another server, and
// keeps its lock.
func TestTheServerOfMyClientDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		client := connect(t, e, "one")
		lease := acquire(t, client, "/ledger")
		dead := e.Client("one").Server()
		session := e.Client("one").Session()
		e.Kill(dead)
		time.Sleep(3 * timeout)
		if !lease.Valid() {
			t.Errorf("the lease is lost: %v", lease.Err())
		}
		if now := e.Client("one").Server(); now == dead || now == 0 {
			t.Errorf("the client was at server %d and is at %d", dead, now)
		}
		if e.Client("one").Session() != session {
			t.Error("the client has another session")
		}
	})
}

// Most servers are down for a while: an acquire waits, ends with its context, and
// succeeds when they are back.
func TestMostServersAreDownForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		client := connect(t, e, "one")
		e.Kill(1)
		e.Kill(2)
		time.Sleep(time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := recipes.NewMutex(client, "/ledger").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a quorum: %v", err)
		}
		e.Restart(1)
		e.Restart(2)
		acquire(t, client, "/ledger")
	})
}

// The leader is cut off from the other servers but not from its clients: it serves them until it
// finds out. No lock is granted twice.
func TestTheLeaderIsIsolatedWithMyClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		leader := e.Leader()
		for id := range e.Servers() {
			if id+1 != leader {
				e.Client("one").Refuse(id + 1) // so it stays with the leader
			}
		}
		lease := acquire(t, connect(t, e, "one"), "/ledger")
		var lost time.Time
		e.Isolate(leader)
		go func() {
			<-lease.Lost()
			lost = time.Now()
		}()
		acquire(t, connect(t, e, "two"), "/ledger")
		if granted := time.Now(); lost.IsZero() || !lost.Before(granted) {
			t.Errorf("lost at %v, granted again at %v", lost, granted)
		}
		if now := e.Leader(); now == leader {
			t.Errorf("server %d still leads", now)
		}
	})
}
