package recipes_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

func TestHelix44TheOneAheadGoesBetweenListAndWatch(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	holder, c := connect(t, addrsOf(t)), connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second))
	l := acquire(t, within(t), recipes.NewMutex(holder, path))
	wire.on(once(opGetData, func() bool {
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
		return true
	}), nil)
	start := time.Now()
	got := acquire(t, within(t), recipes.NewMutex(c, path))
	if waited := time.Since(start); waited > 15*time.Second {
		t.Errorf("found out by the slow poll after %v", waited)
	}
	release(t, got)
}

func TestKazoo170TheLinkDropsAndComesBackDuringTheWait(t *testing.T) {
	path := uniquePath(t)
	a, ls := linked(t)
	holder, c := connect(t, addrsOf(t)), connect(t, a, recipes.WithSessionTimeout(20*time.Second))
	conn := admin(t)
	l := acquire(t, within(t), recipes.NewMutex(holder, path))
	waiting := acquiring(within(t), recipes.NewMutex(c, path))
	eventually(t, "the waiter watches the holder", func() bool { return watchesBelow(t, path) == 1 })
	cutAll(t, ls, links.Down)
	release(t, l)
	eventually(t, "the holder's node is gone", func() bool { return len(contenders(t, conn, path)) == 1 })
	start := time.Now()
	healAll(t, ls)
	got := (<-waiting).ok(t)
	if waited := time.Since(start); waited > 15*time.Second {
		t.Errorf("found out by the slow poll after %v", waited)
	}
	release(t, got)
}

func TestZooKeeper3145AWatchEventIsLost(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	holder, c := connect(t, addrsOf(t)), connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	l := acquire(t, within(t), recipes.NewMutex(holder, path))
	waiting := acquiring(within(t), recipes.NewMutex(c, path))
	eventually(t, "the waiter watches the holder", func() bool { return watchesBelow(t, path) == 1 })
	wire.loseEvents()
	release(t, l)
	release(t, (<-waiting).ok(t)) // it lists the queue again by itself
}

func TestEtcd19597TheWaitersOwnSessionExpires(t *testing.T) {
	// zk.Lock has this bug, too: the step after the expiry runs in the next session and finds no
	// contender ahead because it has no node itself. See also ClickHouse #116690 and etcd #11456.
	path := uniquePath(t)
	var wire intercept
	holder, c := connect(t, addrsOf(t)), connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	conn := admin(t)
	l := acquire(t, within(t), recipes.NewMutex(holder, path))
	waiting := acquiring(within(t), recipes.NewMutex(c, path))
	eventually(t, "it waits", func() bool { return len(contenders(t, conn, path)) == 2 })
	first, _ := wire.credentials()
	expire(t, &wire)
	eventually(t, "it waits in its next session", func() bool {
		for _, name := range contenders(t, conn, path) {
			_, stat, err := conn.Get(path + "/" + name)
			if err == nil && stat.EphemeralOwner != first && stat.EphemeralOwner != l.SessionID() {
				return true
			}
		}
		return false
	})
	select {
	case r := <-waiting:
		t.Fatalf("two holders, or an error: %+v", r)
	default:
	}
	if !l.Valid() {
		t.Error("the holder lost its lease by the waiter's expiry")
	}
	release(t, l)
	got := (<-waiting).ok(t)
	if got.SessionID() == first {
		t.Error("granted in a session that had expired")
	}
	release(t, got)
}

// threeAhead makes a queue of three clients: a fourth client that waits behind them has to list
// the queue when the second leaves, since it cannot know whether the first has left before.
func threeAhead(t *testing.T, path string) (first *recipes.Lease, second, third <-chan result) {
	t.Helper()
	first = acquire(t, within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	second = acquiring(within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	eventually(t, "the second waits", func() bool { return watchesBelow(t, path) == 1 })
	third = acquiring(within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	eventually(t, "the third waits", func() bool { return watchesBelow(t, path) == 1+2 })
	return first, second, third
}

func TestEtcd11456TheSessionExpiresAtTheMomentOfTheGrant(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	conn := admin(t)
	l, second, third := threeAhead(t, path)
	waiting := acquiring(within(t), recipes.NewMutex(c, path))
	eventually(t, "it waits", func() bool { return watchesBelow(t, path) == 1+2+2 })
	first, _ := wire.credentials()
	// The list that says "your turn" is on its way while the session ends.
	wire.on(nil, once(opChildren, func() bool {
		expire(t, &wire)
		return true
	}))
	release(t, l)
	release(t, (<-second).ok(t))
	release(t, (<-third).ok(t))
	got := (<-waiting).ok(t)
	if got.SessionID() == first {
		// The lease may have been granted before the client could know; then its loss must be
		// told.
		<-got.Lost()
		if err := got.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("release: %v", err)
		}
		return
	}
	if nodes := contenders(t, conn, path); len(nodes) != 1 {
		t.Errorf("nodes: %v", nodes)
	}
	release(t, got)
}

func TestCurator315TheOwnNodeIsDeletedBySomebodyElse(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	conn := admin(t)
	l, second, third := threeAhead(t, path)
	before := contenders(t, conn, path)
	waiting := acquiring(within(t), recipes.NewMutex(c, path))
	eventually(t, "it waits", func() bool { return watchesBelow(t, path) == 1+2+2 })
	for _, name := range contenders(t, conn, path) {
		if !slices.Contains(before, name) {
			if err := conn.Delete(path+"/"+name, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	release(t, l)
	release(t, (<-second).ok(t))
	release(t, (<-third).ok(t))
	release(t, (<-waiting).ok(t))
}

func TestCurator495AnObserverMayUseTheClient(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	var c *recipes.Client
	again := make(chan error, 1)
	c = connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithObserver(recipes.Observer{
		Lost: func(*recipes.Lease, recipes.LossReason, time.Duration) {
			l, err := recipes.NewMutex(c, path+"-2").Acquire(t.Context())
			if err == nil {
				err = l.Release(t.Context())
			}
			again <- err
		},
	}))
	acquire(t, within(t), recipes.NewMutex(c, path))
	expire(t, &wire)
	select {
	case err := <-again:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patient):
		t.Fatal("nothing moves")
	}
}

func TestAThousandWaitersOfOneProcess(t *testing.T) {
	// CURATOR-716: all waiters of one process share a monitor there, and take
	// minutes. Here a watch of its own wakes each waiter; the test only checks that all have
	// their turn, one at a time.
	path := uniquePath(t)
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second))
	m := recipes.NewMutex(c, path)
	const n = 300
	inside, turns := make(chan struct{}, 1), make(chan error, n)
	for range n {
		go func() {
			l, err := m.Acquire(t.Context())
			if err != nil {
				turns <- err
				return
			}
			select {
			case inside <- struct{}{}:
			default:
				turns <- errors.New("two holders")
				return
			}
			<-inside
			turns <- l.Release(t.Context())
		}()
	}
	for range n {
		if err := <-turns; err != nil {
			t.Fatal(err)
		}
	}
}
