package recipes_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// An acquire is cancelled before its create is sent, and returns at once. The create still makes
// a node, which the client deletes in the background, after the same client has tried to acquire
// the free lock again.
func TestATryOfAFreeLockIsNotRefusedForWhatItsOwnClientGaveUp(t *testing.T) {
	for _, c := range []struct {
		name     string
		answered bool // the create's answer comes
	}{
		{"the create is answered", true},
		{"the answer is lost with the connection", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := uniquePath(t)
			conn := admin(t)
			var wire intercept
			dialed := make(chan struct{}, 100)
			client := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second),
				recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
					dialed <- struct{}{}
					return wire.dial(ctx, network, addr)
				}))
			release(t, acquire(t, within(t), recipes.NewMutex(client, path))) // the parents are there
			for len(dialed) > 0 {
				<-dialed
			}

			cleanUp, reached, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
			wire.holdBack(opDelete, cleanUp)
			wire.on(once(opCreate, func() bool { close(reached); <-goOn; return true }), once(opCreate, func() bool { return c.answered }))
			ctx, cancel := context.WithCancel(within(t))
			done := calling(ctx, leasing(recipes.NewMutex(client, path).Acquire))
			<-reached
			cancel()
			if err := returnsWithin(t, done); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			close(goOn)
			eventually(t, "the node is made all the same", func() bool { return len(contenders(t, conn, path)) == 1 })
			if !c.answered {
				<-dialed // the try's create would break with the old connection, and wait for a delete
			}

			l, err := recipes.NewMutex(client, path).TryAcquire(within(t))
			if err != nil {
				t.Errorf("a try of a free lock: %v", err)
			}
			if _, err := recipes.NewMutex(connect(t, addrsOf(t)), path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
				t.Errorf("another client's try of a lock that is held: %v", err)
			}
			if n := len(contenders(t, conn, path)); n != 2 {
				t.Errorf("%d nodes are there, not what was given up and the holder's", n)
			}
			close(cleanUp)
			if l != nil {
				release(t, l)
			}
			eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
		})
	}
}

// The connection breaks during the clean-up of a cancelled acquire, between its search for the
// node and the delete. The node still exists, and still does not count.
func TestATryOfAFreeLockIsNotRefusedWhenTheCleanUpBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		wire := intercept{through: e.Client("taker").DialContext}
		c, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithSessionTimeout(20*time.Second), recipes.WithDialer(wire.dial))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		release(t, acquire(t, within(t), recipes.NewMutex(c, "/lock"))) // the parents are there

		came, goOn, cleanUp, deletes := make(chan struct{}), make(chan struct{}), make(chan struct{}), 0
		wire.on(func(op int32) bool {
			if op == opDelete {
				deletes++ // the first delete asks the leader for the committed state
			}
			if op == opDelete && deletes == 2 {
				wire.holdBack(opDelete, cleanUp)
				return false
			}
			return true
		}, once(opCreate, func() bool { close(came); <-goOn; return false }))
		ctx, cancel := context.WithCancel(t.Context())
		done := calling(ctx, leasing(recipes.NewMutex(c, "/lock").Acquire))
		<-came
		cancel()
		if err := returnsWithin(t, done); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		close(goOn)
		time.Sleep(5 * time.Second)
		if n := len(e.Children("/lock")); n != 1 || deletes < 2 {
			t.Fatalf("%d nodes after %d deletes: the clean-up did not break off", n, deletes)
		}
		l, err := recipes.NewMutex(c, "/lock").TryAcquire(within(t))
		if err != nil {
			t.Errorf("a try of a free lock: %v", err)
		}
		close(cleanUp)
		if l != nil {
			release(t, l)
		}
		time.Sleep(5 * time.Second)
		if left := e.Children("/lock"); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}

// A client that may not list the queue cannot find its own node. It deletes the node when it may
// list the queue again.
func TestWhatWasGivenUpIsDeletedWhenTheQueueCanBeListedAgain(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second), recipes.WithDialer(wire.dial))
	release(t, acquire(t, within(t), recipes.NewMutex(c, path))) // the parents are there
	came, goOn := make(chan struct{}), make(chan struct{})
	wire.on(nil, once(opCreate, func() bool { close(came); <-goOn; return false }))
	ctx, cancel := context.WithCancel(within(t))
	done := calling(ctx, leasing(recipes.NewMutex(c, path).Acquire))
	<-came
	cancel()
	if err := returnsWithin(t, done); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if _, err := conn.SetACL(path, zk.WorldACL(zk.PermAll&^zk.PermRead), -1); err != nil {
		t.Fatal(err)
	}
	refused := make(chan struct{})
	wire.on(nil, once(opChildren, func() bool { close(refused); return true }))
	close(goOn)
	<-refused
	if _, err := conn.SetACL(path, zk.WorldACL(zk.PermAll), -1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
}

func returnsWithin(t *testing.T, done <-chan outcome) error {
	t.Helper()
	select {
	case o := <-done:
		return o.err
	case <-time.After(patient):
		t.Fatal("the call does not return")
		return nil
	}
}
