package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// TestCancelAtEveryAwaitPoint stops the acquire at each request it makes,
// before the server gets it and after the server has answered, cancels it
// there, and looks whether anything is left: CURATOR-79, -62, -205, -202,
// vitess #15756, vitess #8309.
func TestCancelAtEveryAwaitPoint(t *testing.T) {
	for _, test := range []struct {
		name    string
		op      int32
		waiting bool // behind another holder
	}{
		{"the create", opCreate, true},
		{"the list of the queue", opChildren, true},
		{"the watch on the one ahead", opGetData, true},
		{"the clean-up after a cancelled wait", opDelete, true},
		{"the create, nobody ahead", opCreate, false},
		{"the list of the queue, nobody ahead", opChildren, false},
	} {
		for _, side := range []string{"request", "reply"} {
			t.Run(fmt.Sprintf("%s, %s", test.name, side), func(t *testing.T) {
				leavesNoGoroutine(t)
				path := uniquePath(t)
				var wire intercept
				c := connect(t, addrs(), recipes.WithDialer(wire.dial))
				other := connect(t, addrs())
				conn := admin(t)
				m := recipes.NewMutex(c, path)
				release(t, acquire(t, within(t), m))
				var held *recipes.Lease
				if test.waiting {
					held = acquire(t, within(t), recipes.NewMutex(other, path))
				}

				reached, goOn := make(chan struct{}), make(chan struct{})
				hook := once(test.op, func() bool { close(reached); <-goOn; return true })
				if side == "request" {
					wire.on(hook, nil)
				} else {
					wire.on(nil, hook)
				}
				ctx, cancel := context.WithCancel(within(t))
				done := acquiring(ctx, m)
				if test.op == opDelete {
					eventually(t, "the contender waits", func() bool { return len(contenders(t, conn, path)) == 2 })
					cancel()
				}
				select {
				case <-reached:
				case <-time.After(patient):
					t.Fatal("the acquire never gets there")
				}
				cancel()
				select {
				case r := <-done:
					if !errors.Is(r.err, context.Canceled) {
						t.Errorf("cancelled acquire: %v, %v", r.lease, r.err)
					}
				case <-time.After(patient):
					t.Fatal("the cancelled acquire does not return")
				}
				close(goOn)

				want := 0
				if held != nil {
					want = 1
				}
				eventually(t, "its node is gone", func() bool { return len(contenders(t, conn, path)) == want })
				if held != nil {
					release(t, held)
				}
				release(t, acquire(t, within(t), m))
				eventually(t, "no watch is left", func() bool { return watchesBelow(t, path) == 0 })
			})
		}
	}
}

func TestTheContextBoundsAnAcquireAlsoWithoutANetwork(t *testing.T) {
	// Curator bounds the wait alone, not the retries.
	for _, cut := range []links.Cut{links.Down, links.BlackHole, links.RequestsLost, links.RepliesLost} {
		t.Run(string(cut), func(t *testing.T) {
			path := uniquePath(t)
			a, ls := linked(t)
			c := connect(t, a)
			conn := admin(t)
			m := recipes.NewMutex(c, path)
			cutAll(t, ls, cut)
			ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
			defer cancel()
			done := acquiring(ctx, m)
			select {
			case r := <-done:
				if !errors.Is(r.err, context.DeadlineExceeded) {
					t.Errorf("got %v", r.err)
				}
			case <-time.After(patient):
				t.Fatal("the acquire does not return")
			}
			healAll(t, ls)
			release(t, acquire(t, within(t), m))
			eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
		})
	}
}

func TestCurator654WaitsThatEndPileUpNoWatches(t *testing.T) {
	path := uniquePath(t)
	holder, c := connect(t, addrs()), connect(t, addrs())
	l := acquire(t, within(t), recipes.NewMutex(holder, path))
	for range 30 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := recipes.NewMutex(c, path).Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	if n := watchesBelow(t, path); n > 1 {
		t.Errorf("%d watches on the servers", n)
	}
	release(t, l)
	eventually(t, "no watch is left", func() bool { return watchesBelow(t, path) == 0 })
}

// watchesBelow counts the watches on nodes below path on all servers.
func watchesBelow(t *testing.T, path string) int {
	t.Helper()
	n := 0
	for _, s := range servers.Servers() {
		text, err := ensemble.Four(within(t), s.Addr, "wchp")
		if err != nil {
			t.Fatal(err)
		}
		below := false
		for line := range strings.Lines(text) { // a path, and below it the sessions that watch it
			if !strings.HasPrefix(line, "\t") {
				below = strings.HasPrefix(line, path+"/")
			} else if below {
				n++
			}
		}
	}
	return n
}
