package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/recipes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *simulated.Ensemble {
	t.Helper()
	e, err := simulated.Start(t.Context(), ensemble.LocalConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func addresses(e ensemble.Ensemble) (all []string) {
	for _, s := range e.Servers() {
		all = append(all, s.Addr)
	}
	return all
}

func connect(t *testing.T, addrs []string) *zk.Conn {
	t.Helper()
	c, events, err := zk.Connect(addrs, 2*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for e := range events {
		if e.State == zk.StateHasSession {
			return c
		}
	}
	t.Fatal("no session")
	return nil
}

func TestGoZookeeperWorksOnASimulatedEnsemble(t *testing.T) {
	e := start(t)
	c := connect(t, addresses(e))
	_, _, changed, err := c.ExistsW("/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create("/a", []byte("one"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if ev := <-changed; ev.Type != zk.EventNodeCreated || ev.Path != "/a" {
		t.Errorf("the watch reports %+v", ev)
	}
	if _, err := c.Multi(&zk.SetDataRequest{Path: "/a", Data: []byte("two"), Version: 0}, &zk.CheckVersionRequest{Path: "/a", Version: 9}); !errors.Is(err, zk.ErrBadVersion) {
		t.Errorf("a multi whose check fails: %v", err)
	}
	if data, stat, err := c.Get("/a"); err != nil || string(data) != "one" || stat.Version != 0 {
		t.Errorf("after it: %q, %+v, %v", data, stat, err)
	}
}

func TestALockIsHandedOnWhenItsHoldersSessionIsExpired(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	lock := func() *recipes.Mutex {
		c, err := recipes.Connect(ctx, addresses(e), recipes.WithSessionTimeout(2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		return recipes.NewMutex(c, "/lock")
	}
	held, err := lock().Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range e.Servers() {
		if err := e.Pause(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-held.Lost():
	case <-ctx.Done():
		t.Fatal("its holder was not notified")
	}
	for _, s := range e.Servers() {
		if err := e.Resume(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
	}
	again, err := lock().Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if held.Token().Compare(again.Token()) >= 0 {
		t.Errorf("tokens %v and then %v", held.Token(), again.Token())
	}
}

func TestAClientGoesOnAfterItsServerWasKilledAndRestarted(t *testing.T) {
	e := start(t)
	ctx := t.Context()
	c := connect(t, addresses(e))
	if _, err := c.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	for _, s := range e.Servers() {
		if err := e.Kill(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
		if e.Running(s.ID) {
			t.Errorf("server %d runs after it was killed", s.ID)
		}
		if err := e.Restart(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
	}
	for try := 0; ; try++ {
		there, _, err := c.Exists("/a")
		if err == nil && there {
			return
		}
		if err == nil || try == 200 {
			t.Fatalf("the node is there: %v, %v", there, err)
		}
		time.Sleep(10 * time.Millisecond) // no event announces that the client has reconnected
	}
}

// The last server grants less time to a client that connects again, and the session of one that is silent
// then ends by that.
func TestAServerShortensTheSessionOfAClientThatConnectsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const shorter = time.Second
		e, err := simulated.InMemory(ensemble.LocalConfig{}, simulated.Memory{Reconnected: shorter})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		ctx, dial := t.Context(), e.Servers()[0].Dialer
		c, err := recipes.Connect(ctx, []string{e.Servers()[0].Addr, e.Servers()[2].Addr}, recipes.WithSessionTimeout(4*time.Second), recipes.WithDialer(dial.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx)
		session := c.SessionID()
		for _, id := range []int{3, 1} {
			if before := c.SessionTimeout(); before != 4*time.Second {
				t.Errorf("before server %d is killed the timeout is %v", id, before)
			}
			if err := e.Kill(ctx, id); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if err := e.Restart(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		if c.SessionTimeout() != shorter || c.SessionID() != session {
			t.Errorf("the timeout is %v, the session %#x, which was %#x", c.SessionTimeout(), c.SessionID(), session)
		}
	})
}

// One client of four is far away from all servers.
func TestSomeClientsAreFarAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const far = 50 * time.Millisecond
		e, err := simulated.InMemory(ensemble.LocalConfig{}, simulated.Memory{Latency: time.Millisecond, Far: far})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		ctx := t.Context()
		for client := range 5 {
			var addrs []string
			for _, s := range e.Servers() {
				l, err := e.Network().Link(ctx, fmt.Sprintf("client-%d-%d", client, s.ID), s.Addr)
				if err != nil {
					t.Fatal(err)
				}
				addrs = append(addrs, l.Addr())
			}
			c, err := recipes.Connect(ctx, addrs, recipes.WithDialer(e.Servers()[0].Dialer.DialContext))
			if err != nil {
				t.Fatal(err)
			}
			asked := time.Now()
			if _, _, err := c.Conn().Exists("/"); err != nil {
				t.Error(err)
			}
			if took := time.Since(asked); (took >= 2*far) != (client%4 == 0) {
				t.Errorf("client %d had its answer after %v", client, took)
			}
			c.Close(ctx)
		}
	})
}

func TestALeaderThatIsCutOffIsReplaced(t *testing.T) {
	e := start(t)
	ctx := t.Context()
	old, err := e.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	both := func(change func(links.Link) error) {
		for _, s := range e.Servers() {
			for _, l := range append(e.Peer(old, s.ID), e.Peer(s.ID, old)...) {
				if err := change(l); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	both(func(l links.Link) error { return l.Cut(ctx, links.BlackHole) })
	deadline := time.Now().Add(20 * time.Second)
	for {
		now, err := e.Leader(ctx)
		if err == nil && now != old {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("server %d leads: %v", now, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	both(func(l links.Link) error { return l.Heal(ctx) })
}
