package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A follower is cut off from its leader. Another client sets the count. After that a client of
// the follower sets it, and the follower does not forward the request. At another server the
// client learns that the version that the follower had shown is not current any more. The write
// that changed it was the other client's earlier one: the client's own write is still to be made.
func TestASetThroughAFollowerThatLagsBehindIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		follower := e.Leader()%3 + 1
		connect := func(name string) *recipes.SharedCount {
			c, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(e.Client(name).DialContext), recipes.WithSessionTimeout(30*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close(context.Background()) })
			return recipes.NewSharedCount(c, "/count", 0)
		}
		way := e.Client("ours")
		way.Refuse()
		way.Heal(follower)
		e.Client("other").Refuse(follower)
		ours, other := connect("ours"), connect("other")
		set := func(c *recipes.SharedCount, n int) {
			t.Helper()
			if err := c.Set(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		set(ours, 1)
		e.Isolate(follower)
		set(other, 2)
		time.AfterFunc(100*time.Millisecond, func() { way.Refuse(follower); way.Heal(e.Leader()) })
		set(ours, 3)
		if n, err := ours.Get(t.Context()); n != 3 || err != nil {
			t.Errorf("the count is %d, %v; want 3", n, err)
		}
	})
}

// The create of a count is not answered, and another client's Set follows. If the count were
// created with the value of the Set, it would be 3, 4 and 3 again.
func TestASetThatCreatesTheCountTakesEffectOnce(t *testing.T) {
	for name, carriedOut := range map[string]bool{"the create was carried out": true, "it was lost": false} {
		t.Run(name, func(t *testing.T) {
			var wire intercept
			path := uniquePath(t)
			ours := recipes.NewSharedCount(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, 0)
			other := recipes.NewSharedCount(connect(t, addrsOf(t)), path, 0)
			if _, err := recipes.NewSharedCount(connect(t, addrsOf(t)), path+"-beside", 0).Get(within(t)); err != nil { // makes the parents
				t.Fatal(err)
			}
			cutOff := once(opCreate, func() bool {
				if n, err := other.Get(within(t)); n != 0 || err != nil {
					t.Errorf("the count is %d before it is set, %v; want 0", n, err)
				}
				if err := other.Set(within(t), 4); err != nil {
					t.Error(err)
				}
				return cut()
			})
			if carriedOut {
				wire.on(nil, cutOff)
			} else {
				wire.on(cutOff, nil)
			}
			if err := ours.Set(within(t), 3); err != nil {
				t.Fatal(err)
			}
			wire.on(nil, nil)
			if n, err := ours.Get(within(t)); n != 3 || err != nil {
				t.Errorf("the count is %d, %v; want 3", n, err)
			}
		})
	}
}

// Another client deletes the count between two requests of a Set: the Set creates it again.
func TestACountThatIsDeletedWhileItIsSetIsMadeAgain(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	count := recipes.NewSharedCount(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, 3)
	if err := count.Set(within(t), 4); err != nil {
		t.Fatal(err)
	}
	deleted := false
	wire.on(once(opExists, func() bool {
		if err := conn.Delete(path, -1); err != nil {
			t.Error(err)
		}
		deleted = true
		return true
	}), nil)
	if err := count.Set(within(t), 5); err != nil || !deleted {
		t.Fatalf("%v, deleted: %v", err, deleted)
	}
	wire.on(nil, nil)
	if n, err := count.Get(within(t)); n != 5 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if count.Path() != path {
		t.Errorf("its path is %q", count.Path())
	}
}
