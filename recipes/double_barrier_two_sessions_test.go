package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A leader that is cut off from the others finds that a session has expired, and tells its
// client. It cannot commit the expiry, and the next leader gives the session its full timeout
// again: the member's node remains for another session timeout. The member continues in a new
// session, and must not count twice.
func TestAMemberWhoseLastSessionLivesOnCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tick, timeout = 500 * time.Millisecond, time.Second
		e := zktest.Start(t, zktest.Tick(tick))
		leader := e.Leader()
		connect := func(name string) *recipes.DoubleBarrier {
			c, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(e.Client(name).DialContext), recipes.WithSessionTimeout(timeout))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close(context.Background()) })
			return recipes.NewDoubleBarrier(c, "/barrier", 2)
		}
		way := e.Client("first")
		way.Refuse(leader)
		first, second := connect("first"), connect("second")
		entered := going(t.Context(), first.Enter)
		eventually(t, "the member has come", func() bool { return len(e.Children("/barrier")) == 1 })
		session := way.Session()

		way.Refuse()
		time.Sleep(timeout - 100*time.Millisecond)
		e.Isolate(leader)
		time.Sleep(2 * tick) // the leader has the session expire
		way.Heal(leader)
		time.Sleep(2 * tick) // and tells the client, which tries again at least every sixth of the timeout
		way.Refuse()
		eventually(t, "another leader serves", func() bool { return e.Leader() != leader })
		if len(e.Children("/barrier")) != 1 {
			t.Fatal("the first session has not outlived its end: the test shows nothing")
		}
		way.Heal()
		eventually(t, "the member has another session", func() bool { return way.Session() != session })
		time.Sleep(10 * time.Second)
		select {
		case err := <-entered:
			t.Fatalf("one member of two has passed alone: %v", err)
		default:
		}
		e.Heal()
		if err := second.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-entered; err != nil {
			t.Fatal(err)
		}
	})
}
