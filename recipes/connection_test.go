package recipes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// states is a connection listener that a test reads.
type states chan recipes.ConnectionState

func listen() states { return make(states, 64) }

func (s states) told(state recipes.ConnectionState) { s <- state }

// next fails the test unless exactly these states are told next.
func (s states) next(t *testing.T, want ...recipes.ConnectionState) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-s:
			if got != w {
				t.Fatalf("told %v, want %v", got, w)
			}
		case <-time.After(patient):
			t.Fatalf("never told %v", w)
		}
	}
}

// lost fails the test unless the loss is told, with only suspensions before it. While one link
// after the other is cut, the client may find a link that is not cut yet.
func (s states) lost(t *testing.T) {
	t.Helper()
	s.next(t, recipes.ConnSuspended)
	for {
		select {
		case got := <-s:
			switch got {
			case recipes.ConnReconnected:
				s.next(t, recipes.ConnSuspended)
			case recipes.ConnLost:
				return
			default:
				t.Fatalf("told %v, want %v", got, recipes.ConnLost)
			}
		case <-time.After(patient):
			t.Fatalf("never told %v", recipes.ConnLost)
		}
	}
}

func (s states) nothing(t *testing.T) {
	t.Helper()
	select {
	case got := <-s:
		t.Errorf("told %v as well", got)
	default:
	}
}

func TestAListenerHearsOfAShortCut(t *testing.T) {
	a, ls := linked(t)
	heard := listen()
	c := connect(t, a, recipes.WithConnectionListener(heard.told), recipes.WithSessionTimeout(20*time.Second))
	heard.next(t, recipes.ConnConnected)
	before := c.SessionID()
	for range 3 {
		cutAll(t, ls, links.Down)
		heard.next(t, recipes.ConnSuspended)
		healAll(t, ls)
		heard.next(t, recipes.ConnReconnected)
	}
	if after := c.SessionID(); after != before {
		t.Errorf("session 0x%x became 0x%x", before, after)
	}
	// A link may break once more on a busy machine; the session is not lost.
	for len(heard) > 0 {
		if got := <-heard; got != recipes.ConnSuspended && got != recipes.ConnReconnected {
			t.Errorf("told %v as well", got)
		}
	}
}

func TestAListenerIsToldOfTheLossWhileTheCutLasts(t *testing.T) {
	apart(t)
	for _, cut := range []links.Cut{links.Down, links.BlackHole, links.RequestsLost} {
		t.Run(string(cut), func(t *testing.T) {
			a, ls := linked(t)
			heard := listen()
			c := connect(t, a, recipes.WithConnectionListener(heard.told))
			heard.next(t, recipes.ConnConnected)
			before := c.SessionID()
			node, err := c.Conn().Create(fmt.Sprintf("/of-a-session-%d", nextID.Add(1)), nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			if err != nil {
				t.Fatal(err)
			}
			conn := admin(t)
			cutAll(t, ls, cut)
			heard.lost(t)
			eventually(t, "the servers end the session", func() bool {
				exists, _, err := conn.Exists(node)
				return err == nil && !exists
			})
			healAll(t, ls)
			heard.next(t, recipes.ConnReconnected)
			if after := c.SessionID(); after == before {
				t.Errorf("the session is still 0x%x", after)
			}
			heard.nothing(t)
		})
	}
}

// The servers get all the client's requests, so they keep the session; the client cannot know
// that, and must not report it.
func TestASessionThatWasGivenUpForLostComesBack(t *testing.T) {
	apart(t)
	a, ls := linked(t)
	heard := listen()
	c := connect(t, a, recipes.WithConnectionListener(heard.told), recipes.WithSessionTimeout(6*time.Second))
	heard.next(t, recipes.ConnConnected)
	before := c.SessionID()
	cutAll(t, ls, links.RepliesLost)
	heard.lost(t)
	healAll(t, ls)
	heard.next(t, recipes.ConnReconnected)
	if after := c.SessionID(); after != before {
		t.Errorf("session 0x%x became 0x%x", before, after)
	}
}

// This holds also in the worst cut: the client's server answers the client for another second
// without reaching its leader.
func TestAListenerIsToldOfALossNoLaterThanTheServersExpireALease(t *testing.T) {
	needReal(t, "when ZooKeeper expires a session is what the listener must be ahead of")
	leader, err := serversOf(t).Leader(within(t))
	if err != nil {
		t.Fatal(err)
	}
	follower := leader%len(addrsOf(t)) + 1
	heard := listen()
	c := connect(t, addrsOf(t)[follower-1:follower], recipes.WithConnectionListener(heard.told))
	conn := adminOf(t, leader)
	l := acquire(t, within(t), recipes.NewMutex(c, uniquePath(t)))
	heard.next(t, recipes.ConnConnected)
	_, _, gone, err := conn.GetW(l.Node())
	if err != nil {
		t.Fatal(err)
	}
	var peers []links.Link
	for other := 1; other <= len(addrsOf(t)); other++ {
		if other != follower {
			peers = append(peers, serversOf(t).Peer(follower, other)...)
			peers = append(peers, serversOf(t).Peer(other, follower)...)
		}
	}
	t.Cleanup(func() { healAll(t, peers); awaitQuorum(t) })
	cutAll(t, peers, links.BlackHole)
	// A busy machine may have broken the connection before the cut, too.
	for state := recipes.ConnReconnected; state != recipes.ConnLost; {
		select {
		case <-gone:
			t.Fatal("the servers expired the session before the listener was told")
		case state = <-heard:
		}
	}
	if l.Valid() {
		t.Error("the connection is lost and the lease is not")
	}
}

func TestAListenerHearsOfAForcedExpiryAndOfTheClose(t *testing.T) {
	leavesNoGoroutine(t)
	var wire intercept
	heard := listen()
	c := connect(t, addrsOf(t), recipes.WithConnectionListener(heard.told), recipes.WithDialer(wire.dial))
	heard.next(t, recipes.ConnConnected)
	for range 2 {
		before := c.SessionID()
		expire(t, &wire)
		heard.next(t, recipes.ConnSuspended)
		// The client may be quick enough to come back to a session that is
		// about to be closed.
		for state := <-heard; state != recipes.ConnLost; state = <-heard {
			if state != recipes.ConnReconnected {
				t.Fatalf("told %v", state)
			}
			heard.next(t, recipes.ConnSuspended)
		}
		heard.next(t, recipes.ConnReconnected)
		eventually(t, "a new session", func() bool { return c.SessionID() != before })
	}
	if err := c.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	select {
	case state := <-heard:
		if state != recipes.ConnClosed {
			t.Errorf("told %v", state)
		}
	default:
		t.Error("Close returned before the listener was told")
	}
	heard.nothing(t)
}

func TestAListenerThatHangsHoldsUpNothing(t *testing.T) {
	path := uniquePath(t)
	a, ls := linked(t)
	hang, heard := make(chan struct{}), listen()
	c := connect(t, a, recipes.WithConnectionListener(func(s recipes.ConnectionState) {
		<-hang
		heard.told(s)
	}), recipes.WithSessionTimeout(20*time.Second))
	m := recipes.NewMutex(c, path)
	release(t, acquire(t, within(t), m))
	cutAll(t, ls, links.Down)
	healAll(t, ls)
	release(t, acquire(t, within(t), m))
	heard.nothing(t)
	close(hang)
	heard.next(t, recipes.ConnConnected, recipes.ConnSuspended, recipes.ConnReconnected)
}

func TestEveryListenerIsToldAndMayUseTheClient(t *testing.T) {
	path := uniquePath(t)
	heard := listen()
	var c *recipes.Client
	ready, acquired := make(chan struct{}), make(chan error, 1)
	c = connect(t, addrsOf(t), recipes.WithConnectionListener(heard.told),
		recipes.WithConnectionListener(func(s recipes.ConnectionState) {
			if s != recipes.ConnConnected {
				return
			}
			<-ready
			acquired <- recipes.NewMutex(c, path).Do(context.Background(), func(context.Context, *recipes.Lease) error { return nil })
		}))
	close(ready)
	heard.next(t, recipes.ConnConnected)
	select {
	case err := <-acquired:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patient):
		t.Error("the listener hangs in the client")
	}
}

func TestConnectionStatesHaveNames(t *testing.T) {
	t.Parallel()
	for state, want := range map[recipes.ConnectionState]string{
		recipes.ConnConnected: "connected", recipes.ConnSuspended: "suspended",
		recipes.ConnReconnected: "reconnected", recipes.ConnLost: "lost", recipes.ConnClosed: "closed", 0: "unknown",
	} {
		if got := state.String(); got != want {
			t.Errorf("%d is %q, want %q", state, got, want)
		}
	}
}
