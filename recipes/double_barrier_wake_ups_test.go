package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// Spurious wake-ups of members: a member reads the list again before it enters or leaves.

func TestCuratorGH1290AWakeUpIsNoBeginning(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	addresses, ls := linked(t)
	a := recipes.NewDoubleBarrier(connect(t, addresses, recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second)), path, 2)
	conn := admin(t)
	hook, looks := counter(opChildren)
	wire.on(nil, hook)
	ctx, cancel := context.WithCancel(within(t))
	entering := going(ctx, a.Enter)
	wakeUp := func(what string, act func()) {
		t.Helper()
		before := looks.Load()
		act()
		eventually(t, "it waits again after "+what, func() bool { return looks.Load() > before && childWatches(t) == 1 })
		waits(t, entering)
	}
	wakeUp("the call", func() {})
	wakeUp("a foreign child", func() {
		if _, err := conn.Create(path+"/foreign", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	})
	wakeUp("its end", func() {
		if err := conn.Delete(path+"/foreign", -1); err != nil {
			t.Fatal(err)
		}
	})
	wakeUp("a loss of the connection", func() {
		cutAll(t, ls, links.Down)
		healAll(t, ls)
	})
	wakeUp("a member that comes", func() {
		if _, err := conn.Create(path+"/6ba7b810-9dad-11d1-80b4-00c04fd430c8", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err == nil {
			err = conn.Delete(path+"/6ba7b810-9dad-11d1-80b4-00c04fd430c8", -1)
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	cancel()
	if err := returns(t, entering); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	nothingLeft(t, conn, path)
}

func TestCuratorPR416ALeaverGoesByNoWakeUp(t *testing.T) {
	roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
		hook, looks := counter(opChildren)
		wire.on(nil, hook)
		leaving := going(within(t), subject.Leave)
		wakeUp := func(what string, act func()) {
			t.Helper()
			before := looks.Load()
			act()
			eventually(t, "it waits again after "+what, func() bool { return looks.Load() > before && watchesAt(t, path) == 1 })
			waits(t, leaving)
		}
		wakeUp("the call", func() {})
		for i := range 3 {
			wakeUp("a change of the members' nodes", func() {
				for _, name := range members(t, conn, path) {
					if _, err := conn.Set(path+"/"+name, fmt.Append(nil, i), -1); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		// The watch that woke Enter has been used up, or fires here.
		if _, err := conn.Create(path+"/foreign", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		if err := conn.Delete(path+"/foreign", -1); err != nil {
			t.Fatal(err)
		}
		wakeUp("a loss of the connection", func() {
			wire.on(once(opChildren, cut), hook) // when it looks
			for _, name := range members(t, conn, path) {
				if _, err := conn.Set(path+"/"+name, []byte("again"), -1); err != nil {
					t.Fatal(err)
				}
			}
		})
		waits(t, leaving)
		does(t, other.Leave)
		succeeds(t, leaving)
		nothingLeft(t, conn, path)
	})
}

func TestCurator536ALeaveThatHasTimedOutNeitherSpinsNorStays(t *testing.T) {
	// Also CURATOR-233.
	roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
		var requests atomic.Int64
		wire.on(func(op int32) bool {
			if op != opBeat && op > 0 && op != 11 {
				requests.Add(1)
			}
			return true
		}, nil)
		for range 3 { // it may be called again, and continues to wait
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if err := subject.Leave(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v", err)
			}
			cancel()
		}
		awaitMembers(t, conn, path, 1) // it has left although ctx ended
		// Its next Enter waits until the round is over, and does not join that round again.
		ctx, cancel := context.WithCancel(within(t))
		entering := going(ctx, subject.Enter)
		eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
		waits(t, entering)
		if m := members(t, conn, path); len(m) != 1 {
			t.Errorf("members: %v", m)
		}
		cancel()
		if err := returns(t, entering); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		leaving := going(within(t), subject.Leave)
		eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
		waits(t, leaving)
		if n := requests.Load(); n > 100 {
			t.Errorf("%d requests for five waits", n)
		}
		does(t, other.Leave)
		succeeds(t, leaving)
		if err := subject.Leave(within(t)); !errors.Is(err, recipes.ErrNotEntered) {
			t.Errorf("leave when all is over: %v", err)
		}
		nothingLeft(t, conn, path)
		together(t, subject.Enter, other.Enter)
		together(t, subject.Leave, other.Leave)
		nothingLeft(t, conn, path)
	})
}
