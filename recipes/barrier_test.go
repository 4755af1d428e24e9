package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// going starts a call that waits, and returns the channel of its error.
func going(ctx context.Context, call func(context.Context) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- call(ctx) }()
	return done
}

// does fails the test when a call fails.
func does(t *testing.T, call func(context.Context) error) {
	t.Helper()
	if err := call(within(t)); err != nil {
		t.Fatal(err)
	}
}

// returns waits for the result of a call.
func returns(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patient):
		t.Fatal("the call does not return")
		return nil
	}
}

// succeeds waits for the result of a call, which must be nil.
func succeeds(t *testing.T, done <-chan error) {
	t.Helper()
	if err := returns(t, done); err != nil {
		t.Error(err)
	}
}

// waits fails the test if a call has returned.
func waits(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("it has returned: %v", err)
	default:
	}
}

// counter returns a hook that counts the packets of op.
func counter(op int32) (func(int32) bool, *atomic.Int64) {
	var n atomic.Int64
	return func(got int32) bool {
		if got == op {
			n.Add(1)
		}
		return true
	}, &n
}

// noWatchAt checks that no server has a watch on path itself or below it.
func noWatchAt(t *testing.T, path string) {
	t.Helper()
	eventually(t, "no watch is left", func() bool { return watchesAt(t, path) == 0 })
}

// watchesAt counts the sessions that watch path itself or a node below it, once
// for each node.
func watchesAt(t *testing.T, path string) int {
	t.Helper()
	n := 0
	for _, s := range serversOf(t).Servers() {
		text, err := ensemble.Four(within(t), s, "wchp")
		if err != nil {
			t.Fatal(err)
		}
		counts := false
		for line := range strings.Lines(text) { // a path, then a session a line, indented
			if strings.HasPrefix(line, "/") {
				line = strings.TrimSpace(line)
				counts = line == path || strings.HasPrefix(line, path+"/")
			} else if counts && strings.HasPrefix(line, "\t0x") {
				n++
			}
		}
	}
	return n
}

func exists(t *testing.T, conn outsider, path string) bool {
	t.Helper()
	if _, err := conn.Sync(path); err != nil { // its server may lag behind
		t.Fatal(err)
	}
	ok, _, err := conn.Exists(path)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestBarrierHoldsBackWhileItIsUp(t *testing.T) {
	leavesNoGoroutine(t)
	path := uniquePath(t)
	b, other := recipes.NewBarrier(connect(t, addrsOf(t)), path), recipes.NewBarrier(connect(t, addrsOf(t)), path)
	conn := admin(t)
	does(t, b.Wait) // none is up
	does(t, b.Remove)
	does(t, b.Set)
	does(t, other.Set)
	if _, stat, err := conn.Get(path); err != nil || stat.EphemeralOwner != 0 {
		t.Errorf("the barrier's node: %+v, %v: Curator's is persistent", stat, err)
	}
	var waiting []<-chan error
	for _, w := range []*recipes.Barrier{b, other, b} {
		waiting = append(waiting, going(within(t), w.Wait))
	}
	eventually(t, "both sessions wait", func() bool { return watchesAt(t, path) == 2 })
	for _, w := range waiting {
		waits(t, w)
	}
	does(t, other.Remove)
	for _, w := range waiting {
		succeeds(t, w)
	}
	does(t, other.Remove)
	does(t, b.Wait)
	if exists(t, conn, path) {
		t.Error("the barrier is still up")
	}
	noWatchAt(t, path)
}

func TestCuratorGH1290AWakeUpOpensNoBarrier(t *testing.T) {
	path := uniquePath(t)
	a, ls := linked(t)
	var wire intercept
	b := recipes.NewBarrier(connect(t, a, recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second)), path)
	conn := admin(t)
	does(t, b.Set)
	hook, looks := counter(opExists)
	wire.on(nil, hook)
	waiting := going(within(t), b.Wait)
	wakeUp := func(what string, act func()) {
		t.Helper()
		before := looks.Load()
		act()
		eventually(t, "it waits again after "+what, func() bool { return looks.Load() > before })
		waits(t, waiting)
	}
	wakeUp("the call", func() {})
	for i := range 3 {
		wakeUp("a change of the data", func() {
			if _, err := conn.Set(path, fmt.Append(nil, i), -1); err != nil {
				t.Fatal(err)
			}
		})
	}
	wakeUp("a loss of the connection", func() {
		cutAll(t, ls, links.Down)
		healAll(t, ls)
	})
	does(t, b.Remove)
	succeeds(t, waiting)
}

func TestBarrierThatAnotherRemovesMeanwhileIsRemoved(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	b := recipes.NewBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
	conn := admin(t)
	does(t, b.Set)
	wire.on(func(op int32) bool {
		if op == opDelete {
			if err := conn.Delete(path, -1); err != nil {
				t.Error(err)
			}
		}
		return true
	}, nil)
	does(t, b.Remove)
}

func TestBarrierThatIsPutUpAgainLetsThoseBeforePass(t *testing.T) {
	path := uniquePath(t)
	a, ls := linked(t)
	waiter := recipes.NewBarrier(connect(t, a, recipes.WithSessionTimeout(20*time.Second)), path)
	b := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	does(t, b.Set)
	waiting := going(within(t), waiter.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	cutAll(t, ls, links.Down)
	does(t, b.Remove)
	does(t, b.Set)
	healAll(t, ls)
	succeeds(t, waiting)
	// A wait that begins now waits for the new barrier.
	ctx, cancel := context.WithCancel(within(t))
	waiting = going(ctx, waiter.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	waits(t, waiting)
	cancel()
	if err := returns(t, waiting); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	does(t, b.Remove)
}

// The watch is on the new barrier, whose fall the waiter need not await.
func TestBarrierThatIsPutUpAgainBeforeTheWatchLetsThoseBeforePass(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	waiter := recipes.NewBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second)), path)
	b := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	does(t, b.Set)
	wire.on(once(opGetData, func() bool {
		does(t, b.Remove)
		does(t, b.Set)
		return true
	}), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // it looks again after a session timeout
	defer cancel()
	if err := waiter.Wait(ctx); err != nil {
		t.Errorf("it waits for the new barrier: %v", err)
	}
	does(t, b.Remove)
}

func TestEtcd19597BarrierWaitsThroughTheEndOfItsSession(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	b := recipes.NewBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
	other := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	does(t, b.Set)
	waiting := going(within(t), b.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	first, _ := wire.credentials()
	expire(t, &wire)
	eventually(t, "it waits in its next session", func() bool {
		now, _ := wire.credentials()
		return now != first && watchesAt(t, path) == 1
	})
	waits(t, waiting)
	does(t, other.Remove)
	succeeds(t, waiting)
}

func TestKazoo170TheBarrierFallsWhileTheLinkIsDown(t *testing.T) {
	path := uniquePath(t)
	a, ls := linked(t)
	b := recipes.NewBarrier(connect(t, a, recipes.WithSessionTimeout(20*time.Second)), path)
	other := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	does(t, b.Set)
	waiting := going(within(t), b.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	cutAll(t, ls, links.Down)
	does(t, other.Remove)
	healAll(t, ls)
	succeeds(t, waiting)
}

func TestZooKeeper3145TheFallOfABarrierIsSeenWithoutItsEvent(t *testing.T) {
	apart(t)
	path := uniquePath(t)
	var wire intercept
	b := recipes.NewBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
	other := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	does(t, b.Set)
	waiting := going(within(t), b.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	wire.loseEvents()
	does(t, other.Remove)
	succeeds(t, waiting)
}

func TestCurator654WaitsForABarrierPileUpNoWatches(t *testing.T) {
	path := uniquePath(t)
	b := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	does(t, b.Wait)
	if n := watchesAt(t, path); n != 0 {
		t.Errorf("%d watches for a barrier that is not there", n)
	}
	does(t, b.Set)
	for range 30 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := b.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	if n := watchesAt(t, path); n > 1 {
		t.Errorf("%d watches on the servers", n)
	}
	does(t, b.Remove)
	noWatchAt(t, path)
}

func TestBarrierGivenNonsense(t *testing.T) {
	c := connect(t, addrsOf(t))
	conn := admin(t)
	calls := func(b *recipes.Barrier) map[string]func(context.Context) error {
		return map[string]func(context.Context) error{"set": b.Set, "remove": b.Remove, "wait": b.Wait}
	}
	for _, path := range []string{"", "/", "relative", "/a//b", "/a/", "/a/../b", "/a/./b", "/a\x00"} {
		for name, call := range calls(recipes.NewBarrier(c, path)) {
			if err := call(within(t)); !errors.Is(err, recipes.ErrBadPath) || !strings.HasPrefix(err.Error(), name+" ") {
				t.Errorf("%s at %q: %v", name, path, err)
			}
		}
	}
	path := uniquePath(t)
	why := errors.New("not needed any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for name, call := range calls(recipes.NewBarrier(c, path)) {
		if err := call(ctx); !errors.Is(err, why) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	if exists(t, conn, path) {
		t.Error("a cancelled Set has put up a barrier")
	}
	closed := connect(t, addrsOf(t))
	b := recipes.NewBarrier(closed, path)
	does(t, b.Set)
	waiting := going(within(t), b.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	does(t, closed.Close)
	if err := returns(t, waiting); !errors.Is(err, recipes.ErrClosed) {
		t.Errorf("Wait while the client is closed: %v", err)
	}
	for name, call := range calls(b) {
		if err := call(within(t)); !errors.Is(err, recipes.ErrClosed) {
			t.Errorf("%s on a closed client: %v", name, err)
		}
	}
	if !exists(t, conn, path) {
		t.Error("the barrier has gone with the client that put it up")
	}
	does(t, recipes.NewBarrier(c, path).Remove)
}
