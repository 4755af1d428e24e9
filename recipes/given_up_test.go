package recipes_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// An acquire is cancelled before its create has left, and returns at once. The node
// that the create makes all the same is deleted in the background, later than the same
// client asks for the free lock again.
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
