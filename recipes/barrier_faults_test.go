package recipes_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// Lagging servers, requests that are not answered, and calls that are cancelled.

func TestCurator264TheBarrierIsNewsToALaggingFollower(t *testing.T) {
	needReal(t, "what a follower answers that lags behind")
	leader, err := serversOf(t).Leader(within(t))
	if err != nil {
		t.Fatal(err)
	}
	lagging := leader%len(addrsOf(t)) + 1
	path := uniquePath(t)
	b := recipes.NewBarrier(connect(t, addrsOf(t)[leader-1:leader]), path)
	waiter := recipes.NewBarrier(connect(t, addrsOf(t)[lagging-1:lagging]), path)
	does(t, b.Set) // the parents are there
	does(t, b.Remove)
	does(t, waiter.Wait)

	peers := append(serversOf(t).Peer(lagging, leader), serversOf(t).Peer(leader, lagging)...)
	for _, p := range peers {
		if err := p.Delay(within(t), 250*time.Millisecond, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { healAll(t, peers) })
	does(t, b.Set)
	waiting := going(within(t), waiter.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	waits(t, waiting)
	// Remove must not rely on the follower either.
	does(t, recipes.NewBarrier(connect(t, addrsOf(t)[lagging-1:lagging]), path).Remove)
	succeeds(t, waiting)
}

// A follower is cut off from its leader and shows a barrier that has since been removed and put
// up again. The new barrier was there before the wait began, so Wait waits for the new one.
func TestAWaitIsNotOverSinceALaggingFollowerShowedAnOlderBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		follower := e.Leader()%3 + 1
		way := e.Client("ours")
		way.Refuse()
		way.Heal(follower)
		e.Client("other").Refuse(follower)
		ours := recipes.NewBarrier(bubbleClient(t, e, "ours", recipes.WithSessionTimeout(time.Minute)), "/barrier")
		other := recipes.NewBarrier(bubbleClient(t, e, "other", recipes.WithSessionTimeout(time.Minute)), "/barrier")
		does(t, other.Set)
		time.Sleep(time.Second) // the follower has applied it
		e.Isolate(follower)
		does(t, other.Remove)
		does(t, other.Set)
		waiting := make(chan error, 1)
		go func() { waiting <- ours.Wait(t.Context()) }()
		time.AfterFunc(100*time.Millisecond, func() { way.Refuse(follower); way.Heal(e.Leader()) })
		time.Sleep(20 * time.Second)
		select {
		case err := <-waiting:
			t.Fatalf("the wait is over, with %v, and the barrier is up", err)
		default:
		}
		does(t, other.Remove)
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	})
}

func TestCurator264RemoveFindsABarrierThatItsFollowerHasNotHeardOf(t *testing.T) {
	needServers(t)
	leader, err := serversOf(t).Leader(within(t))
	if err != nil {
		t.Fatal(err)
	}
	lagging := leader%len(addrsOf(t)) + 1
	path := uniquePath(t)
	b := recipes.NewBarrier(connect(t, addrsOf(t)[leader-1:leader]), path)
	remover := recipes.NewBarrier(connect(t, addrsOf(t)[lagging-1:lagging]), path)
	conn := adminOf(t, leader)
	peers := append(serversOf(t).Peer(lagging, leader), serversOf(t).Peer(leader, lagging)...)
	for _, p := range peers {
		if err := p.Delay(within(t), 250*time.Millisecond, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { healAll(t, peers) })
	does(t, b.Set)
	does(t, remover.Remove)
	if exists(t, conn, path) {
		t.Error("the barrier is still up")
	}
}

func TestCurator45BarrierWithLostReplies(t *testing.T) {
	for _, side := range []string{"request", "reply"} {
		for _, op := range []struct {
			name string
			op   int32
		}{{"create", opCreate}, {"create of the parent", opCreateContainer}, {"delete", opDelete},
			{"look", opExists}, {"watch", opGetData}, {"question to the leader", opBeat}} {
			t.Run(op.name+", "+side, func(t *testing.T) {
				path := uniquePath(t)
				var wire intercept
				b := recipes.NewBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
				other := recipes.NewBarrier(connect(t, addrsOf(t)), path)
				conn := admin(t)
				lose := func() {
					hook := once(op.op, cut)
					if side == "request" {
						wire.on(hook, nil)
					} else {
						wire.on(nil, hook)
					}
				}
				lose()
				does(t, b.Set)
				if !exists(t, conn, path) {
					t.Fatal("Set has returned and no barrier is up")
				}
				lose()
				waiting := going(within(t), b.Wait)
				eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
				waits(t, waiting)
				lose()
				does(t, b.Remove)
				if exists(t, conn, path) {
					t.Fatal("Remove has returned and the barrier is up")
				}
				succeeds(t, waiting)
				does(t, other.Wait)
			})
		}
	}
}

func TestEtcd22082ARepeatedRemoveSparesTheNextBarrier(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	b := recipes.NewBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
	other := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	conn := admin(t)
	does(t, b.Set)
	wire.on(nil, once(opDelete, func() bool {
		does(t, other.Set) // the delete was carried out; its reply gets lost
		return false
	}))
	does(t, b.Remove)
	if !exists(t, conn, path) {
		t.Error("a barrier that was put up later is gone")
	}
	does(t, b.Remove)
}

func TestCancelAtEveryAwaitPointOfABarrier(t *testing.T) {
	for _, test := range []struct {
		name string
		op   int32
		up   bool // state before the call
		call func(*recipes.Barrier) func(context.Context) error
	}{
		{"Set: the create", opCreate, false, func(b *recipes.Barrier) func(context.Context) error { return b.Set }},
		{"Set: the create of the parent", opCreateContainer, false, func(b *recipes.Barrier) func(context.Context) error { return b.Set }},
		{"Remove: the question to the leader", opBeat, true, func(b *recipes.Barrier) func(context.Context) error { return b.Remove }},
		{"Remove: the look", opExists, true, func(b *recipes.Barrier) func(context.Context) error { return b.Remove }},
		{"Remove: the delete", opDelete, true, func(b *recipes.Barrier) func(context.Context) error { return b.Remove }},
		{"Wait: the question to the leader", opBeat, true, func(b *recipes.Barrier) func(context.Context) error { return b.Wait }},
		{"Wait: the look", opExists, true, func(b *recipes.Barrier) func(context.Context) error { return b.Wait }},
		{"Wait: the watch", opGetData, true, func(b *recipes.Barrier) func(context.Context) error { return b.Wait }},
	} {
		for _, side := range []string{"request", "reply"} {
			t.Run(test.name+", "+side, func(t *testing.T) {
				leavesNoGoroutine(t)
				path := uniquePath(t)
				var wire intercept
				b := recipes.NewBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
				if test.up {
					does(t, b.Set)
				}
				reached, goOn := make(chan struct{}), make(chan struct{})
				hook := once(test.op, func() bool { close(reached); <-goOn; return true })
				if side == "request" {
					wire.on(hook, nil)
				} else {
					wire.on(nil, hook)
				}
				ctx, cancel := context.WithCancel(within(t))
				done := going(ctx, test.call(b))
				<-reached
				cancel()
				if err := returns(t, done); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				close(goOn)
				// The barrier works as before.
				does(t, b.Set)
				waiting := going(within(t), b.Wait)
				eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
				waits(t, waiting)
				does(t, b.Remove)
				succeeds(t, waiting)
				noWatchAt(t, path)
			})
		}
	}
}

func TestTheContextBoundsABarrierAlsoWithoutANetwork(t *testing.T) {
	for _, cut := range []links.Cut{links.Down, links.BlackHole, links.RequestsLost, links.RepliesLost} {
		t.Run(string(cut), func(t *testing.T) {
			path := uniquePath(t)
			a, ls := linked(t)
			b := recipes.NewBarrier(connect(t, a), path)
			does(t, b.Set)
			cutAll(t, ls, cut)
			for name, call := range map[string]func(context.Context) error{"Set": b.Set, "Remove": b.Remove, "Wait": b.Wait} {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				if err := returns(t, going(ctx, call)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, err)
				}
				cancel()
			}
			healAll(t, ls)
			does(t, b.Remove)
			does(t, b.Wait)
		})
	}
}
