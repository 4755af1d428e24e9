package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// All servers lose their data, or are restored to older data, while a client holds a lock and
// another waits for it. The holder is told within the timeout, and both continue in new sessions
// before two timeouts have passed, although they have seen newer transactions than the servers
// have.
func TestClientsOfServersThatHaveLostDataGoOn(t *testing.T) {
	for _, servers := range []int{1, 3} {
		for name, elections := range map[string]int{"wiped": -1, "an older copy": 0, "a copy from before two elections": 2} {
			for who, demanded := range map[string]bool{"of all clients": false, "of clients that authenticate": true} {
				t.Run(fmt.Sprintf("%s, %d servers %s", name, servers, who), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { loseData(t, servers, elections, demanded) })
				})
			}
		}
	}
}

// loseData restores servers to a copy from before that many elections; with −1 there is no copy.
// After an election the transaction numbers are greater than all before. So servers that are
// restored to a copy from before 0 elections get greater numbers than their clients have seen.
func loseData(t *testing.T, servers, elections int, demanded bool) {
	options, who := []zktest.Option{zktest.Servers(servers)}, []recipes.Option(nil)
	if demanded {
		options = append(options, zktest.SASL(map[string]string{"app": "secret"}, true))
		who = append(who, recipes.WithSASL(recipes.DigestMD5("app", "secret")))
	}
	e := zktest.Start(t, options...)
	holder, waiter := bubbleClient(t, e, "holder", who...), bubbleClient(t, e, "waiter", who...)
	copies := make([]zktest.Backup, servers+1)
	if elections >= 0 {
		for id := 1; id <= servers; id++ {
			copies[id] = e.Backup(id) // the clients' sessions are in it
		}
	}
	for range elections {
		leader := e.Leader()
		e.Kill(leader)
		e.Restart(leader)
		e.Leader()
	}
	for i := range 50 {
		if _, err := holder.Conn().Create(fmt.Sprintf("/more-%d", i), nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := recipes.NewMutex(holder, "/lock").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, timeout := holder.SessionID(), holder.SessionTimeout()
	granted := acquiring(t.Context(), recipes.NewMutex(waiter, "/lock"))
	time.Sleep(time.Second)

	for id := 1; id <= servers; id++ {
		e.Kill(id)
	}
	for id := 1; id <= servers; id++ {
		e.Restore(id, copies[id])
		e.Restart(id)
	}
	began := time.Now()
	select {
	case <-lease.Lost():
	case <-time.After(timeout):
		t.Errorf("the holder is not told within %v", timeout)
	}
	got := (<-granted).ok(t)
	if took := time.Since(began); took > 2*timeout {
		t.Errorf("the waiter has the lock after %v", took)
	}
	if err := got.Release(t.Context()); err != nil {
		t.Error(err)
	}
	l, err := recipes.NewMutex(holder, "/lock").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*timeout || (holder.SessionID() == before) != (elections == 0) {
		t.Errorf("the holder has the lock again after %v, in session %#x", took, holder.SessionID())
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("the old lease's release: %v", err)
	}
}

// Servers that close connections because they have no quorum have not lost data.
func TestASessionOutlivesServersWithoutAQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "client")
		session := c.SessionID()
		e.Kill(1)
		e.Kill(2)
		time.Sleep(time.Hour / 4)
		e.Restart(1) // which gives every session its full timeout again
		if _, err := recipes.NewMutex(c, "/lock").Acquire(t.Context()); err != nil || c.SessionID() != session {
			t.Errorf("session %#x instead of %#x: %v", c.SessionID(), session, err)
		}
	})
}

// A server that lags behind and closes a client's connection is no proof of lost data either.
func TestAServerThatLagsBehindHasForgottenNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "client")
		l, err := recipes.NewMutex(c, "/lock").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		behind := 1 // a follower that the client does not use
		for behind == e.Leader() || behind == e.Client("client").Server() {
			behind++
		}
		e.Isolate(behind)
		if _, err := c.Conn().Create("/more", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		for id := 1; id <= 3; id++ {
			if id != behind {
				e.Client("client").Refuse(id)
			}
		}
		time.AfterFunc(2*time.Second, e.Heal)
		time.Sleep(5 * time.Second)
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		if err := l.Release(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
