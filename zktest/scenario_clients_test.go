package zktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A service on go-zookeeper: its session expires, and its ephemeral node is gone.
func TestTheSessionOfAGoZookeeperClientExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		expired := make(chan struct{}, 1)
		conn, _, err := zk.Connect(e.Servers(), timeout, zk.WithDialer(e.Client("one").DialTimeout), zk.WithLogger(quiet{}),
			zk.WithEventCallback(func(event zk.Event) {
				if event.State == zk.StateExpired {
					expired <- struct{}{}
				}
			}))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Create("/member", []byte("one"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		if n, there := e.Node("/member"); !there || n.Session != conn.SessionID() || string(n.Data) != "one" {
			t.Errorf("the servers have %+v", n)
		}
		e.Client("one").Expire()
		if _, there := e.Node("/member"); there {
			t.Error("the node has outlived its session")
		}
		<-expired
	})
}

// Real time, for tests that need the network or a process of their own. A service
// without a dialer is given TCP addresses, as is one in Java or Python.
func TestARealClock(t *testing.T) {
	e := zktest.Start(t, zktest.Tick(20*time.Millisecond))
	client, err := recipes.Connect(t.Context(), e.Client("one").Addrs(), recipes.WithSessionTimeout(200*time.Millisecond), recipes.WithServerTick(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(context.Background())
	lease := acquire(t, client, "/ledger")
	e.Client("one").Cut()
	<-lease.Lost()
	e.Client("one").Heal()
	acquire(t, client, "/ledger")
}

// quiet is a logger that logs nothing.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
