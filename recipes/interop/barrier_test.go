package interop_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// running is a call of package recipes that waits.
type running struct {
	t    *testing.T
	done chan error
}

func start(t *testing.T, call func(context.Context) error) running {
	ctx := within(t)
	r := running{t, make(chan error, 1)}
	go func() { r.done <- call(ctx) }() // ends with the call, at the latest with the test
	return r
}

func (r running) waits() {
	r.t.Helper()
	if len(r.done) > 0 {
		r.t.Fatalf("returned too early: %v", <-r.done)
	}
}

func (r running) returned() {
	r.t.Helper()
	must(r.t, <-r.done)
}

func TestBarrierHoldsBothBack(t *testing.T) {
	ours, theirs := goClient(t), curatorClient(t)
	for who, steps := range map[string]struct {
		set, remove func(b *recipes.Barrier) error
	}{
		"set and removed by us": {
			func(b *recipes.Barrier) error { return b.Set(within(t)) },
			func(b *recipes.Barrier) error { return b.Remove(within(t)) },
		},
		"set and removed by Curator": {
			func(b *recipes.Barrier) error { theirs.do("set-barrier", b.Path()); return nil },
			func(b *recipes.Barrier) error { theirs.do("remove-barrier", b.Path()); return nil },
		},
		"set by us, removed by Curator": {
			func(b *recipes.Barrier) error { return b.Set(within(t)) },
			func(b *recipes.Barrier) error { theirs.do("remove-barrier", b.Path()); return nil },
		},
		"set by Curator, removed by us": {
			func(b *recipes.Barrier) error { theirs.do("set-barrier", b.Path()); return nil },
			func(b *recipes.Barrier) error { return b.Remove(within(t)) },
		},
	} {
		t.Run(who, func(t *testing.T) {
			path := uniquePath(t)
			b := recipes.NewBarrier(ours, path)
			theirs.do("barrier", path, path)
			must(t, steps.set(b))
			must(t, b.Set(within(t))) // both may set a barrier that is up
			theirs.do("set-barrier", path)

			if theirs.do("wait-barrier", path, 50).Done {
				t.Error("Curator passed")
			}
			brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := b.Wait(brief); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("we passed: %v", err)
			}
			us := start(t, b.Wait)
			them := theirs.startOn("another thread", "wait-barrier", path)
			must(t, steps.remove(b))
			us.returned()
			theirs.answer(them)
			must(t, b.Remove(within(t))) // and remove a barrier that is not up
			theirs.do("remove-barrier", path)
			if !theirs.do("wait-barrier", path, 50).Done {
				t.Error("Curator waits for a barrier that is not there")
			}
			must(t, b.Wait(within(t)))
		})
	}
}

func TestDoubleBarrierCountsBoth(t *testing.T) {
	ours, theirs, conn := goClient(t), curatorClient(t), admin(t)
	for who, firstIsOurs := range map[string]bool{"we come first": true, "Curator comes first": false} {
		t.Run(who, func(t *testing.T) {
			path := uniquePath(t)
			b := recipes.NewDoubleBarrier(ours, path, 3)
			another := recipes.NewDoubleBarrier(goClient(t), path, 3)
			theirs.do("double-barrier", path, path, 3)

			// Two of three wait.
			var us running
			var them *javaCall
			if firstIsOurs {
				us = start(t, b.Enter)
				queued(t, conn, path, 1)
				them = theirs.start("enter", path)
			} else {
				them = theirs.start("enter", path)
				queued(t, conn, path, 1)
				us = start(t, b.Enter)
			}
			queued(t, conn, path, 2)
			us.waits()
			them.pending(t)
			third := start(t, another.Enter)
			third.returned()
			us.returned()
			theirs.answer(them)

			// Two of three have left, or are leaving: the lowest keeps its node.
			if firstIsOurs {
				us = start(t, b.Leave)
				them = theirs.start("leave", path)
			} else {
				them = theirs.start("leave", path)
				us = start(t, b.Leave)
			}
			eventually(t, "a member that leaves is gone", func() bool { return len(members(t, conn, path)) < 3 })
			us.waits()
			them.pending(t)
			must(t, another.Leave(within(t)))
			theirs.answer(them)
			us.returned()
			eventually(t, "nothing is left in the double barrier", func() bool { return len(children(t, conn, path)) == 0 })
		})
	}
}

// The last member to enter may be Curator's, and no member returns from Leave before all have
// left.
func TestDoubleBarrierWaitsForCurator(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	b, theirs := recipes.NewDoubleBarrier(goClient(t), path, 2), curatorClient(t)
	theirs.do("double-barrier", path, path, 2)
	us := start(t, b.Enter)
	queued(t, conn, path, 1)
	us.waits()
	theirs.do("enter", path)
	us.returned()

	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := b.Leave(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v of a leave before Curator's", err)
	}
	us = start(t, b.Leave) // continues to wait
	us.waits()
	theirs.do("leave", path)
	us.returned()
}

// members lists the members in a double barrier.
func members(t *testing.T, conn *zk.Conn, path string) []string {
	return slices.DeleteFunc(children(t, conn, path), func(name string) bool { return name == "ready" })
}
