package recipes_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// go-zookeeper's own DNSHostProvider resolves the names of servers once: a client would never
// find a server that has moved to another address.
func TestAServersNameIsResolvedAgainAtEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		const name = "zk.example:2181"
		var at atomic.Int64 // the server that the name resolves to
		client := e.Client("one")
		heard := listen()
		c, err := recipes.Connect(t.Context(), []string{name}, recipes.WithConnectionListener(heard.told),
			recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr != name {
					t.Errorf("dials %s", addr)
				}
				return client.DialContext(ctx, network, e.Servers()[at.Load()])
			}))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		heard.next(t, recipes.ConnConnected)
		at.Store(1)
		client.Refuse(1)
		heard.next(t, recipes.ConnSuspended, recipes.ConnReconnected)
		if got := client.Server(); got != 2 {
			t.Errorf("connected to server %d", got)
		}
	})
}
