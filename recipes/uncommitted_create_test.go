package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// The leader proposes a contender's node and is cut off before it hears that the followers
// have logged it. The client, whose acquire was cancelled, connects to that leader and finds no
// node there, and the leader answers a sync as if no proposal were under way. The followers elect
// another leader, and then the node exists. The client has to delete it then, or no client gets
// the lock until the session ends.
func TestANodeThatAnIsolatedLeaderHasProposedIsNotLeftBehind(t *testing.T) {
	for cut := 100 * time.Microsecond; cut < 2*time.Millisecond; cut += 100 * time.Microsecond {
		synctest.Test(t, func(t *testing.T) {
			e := zktest.Start(t)
			leader := e.Leader()
			follower := leader%3 + 1
			way := e.Client("holder")
			way.Refuse()
			way.Heal(follower)
			c, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(way.DialContext), recipes.WithSessionTimeout(30*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(context.Background())
			m := recipes.NewMutex(c, "/lock")
			warm, err := m.Acquire(t.Context()) // so that the directory exists
			if err != nil {
				t.Fatal(err)
			}
			if err := warm.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(cut, func() { e.Isolate(leader) })
			patience, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			defer cancel()
			if l, err := m.Acquire(patience); err == nil {
				_ = l.Release(t.Context()) // it was granted before the leader was cut off
			}
			way.Heal(leader)
			way.Refuse(follower)
			time.Sleep(3 * time.Second)
			e.Heal()
			time.Sleep(10 * time.Second)
			if left := e.Children("/lock"); len(left) > 0 {
				t.Errorf("cut off after %v: %v is left", cut, left)
			}
		})
	}
}
