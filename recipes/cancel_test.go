package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// TestCancelAtEveryAwaitPoint stops every call of every recipe at each of its requests, before
// the server gets it and after the server has answered, and cancels the call there. It checks
// that the call returns and leaves no node or watch: CURATOR-79, -62, -205, -202, -335, vitess
// #15756, #8309.
func TestCancelAtEveryAwaitPoint(t *testing.T) {
	onEveryTrial(t, inTurn, func(s *stage, prepare func(*stage) trial, points []point) {
		before, missed := goleak.IgnoreCurrent(), 0
		for _, at := range points {
			came := false
			for _, side := range at.sides() {
				there := false
				for tries := 0; !there && tries < 10; tries++ { // a race decides whether some requests are made
					there = s.cancelAt(prepare, at, side)
				}
				came = came || there
			}
			if !came {
				missed++
			}
			if err := goleak.Find(append(connections(), before)...); err != nil {
				s.Fatalf("%s: %v", at, err)
			}
		}
		if missed*3 > len(points) {
			s.Errorf("%d of %d points were never come to", missed, len(points))
		}
	})
}

// cancelAt reports whether the call reached that point.
func (s *stage) cancelAt(prepare func(*stage) trial, at point, side side) (there bool) {
	s.Helper()
	tr := s.begins(prepare)
	bare := s.nodes()
	var blocker releaser
	if tr.block != nil {
		blocker = s.must(tr.block)
	}
	standing, watches := s.nodes(), s.asked.Load()

	reached, goOn := make(chan struct{}), make(chan struct{})
	pass := sync.OnceFunc(func() { close(goOn) })
	defer pass()
	p := newPrompter(at, side, func() bool { close(reached); <-goOn; return true })
	p.on(s.wire)
	ctx, cancel := context.WithCancel(within(s.T))
	defer cancel()
	done := calling(ctx, tr.call)
	if blocker != nil && at.phase != queueing {
		s.watched(watches)
		p.turn(at.phase.asWaitEnds())
		if at.phase == cleaning {
			cancel()
		} else {
			s.release(blocker)
			blocker, standing = nil, bare
		}
	}
	if at.phase == releasing {
		o := s.await(done)
		if o.err != nil {
			s.Fatal(o.err)
		}
		p.turn(releasing)
		done = calling(ctx, func(ctx context.Context) (releaser, error) { return nothing, o.lease.Release(ctx) })
	}
	// The call reaches the point. Where a race decides about its requests, it may instead wait or
	// return.
	var o outcome
	returned := false
	eventually(s.T, fmt.Sprintf("%s, %s: it is there, waits, or is done", at, side), func() bool {
		select {
		case <-reached:
			there = true
			return true
		case o = <-done:
			returned = true
		default:
		}
		if side == "reply" && slices.Contains(p.points(), at) {
			return false // the request is already answered
		}
		return returned && (o.err == nil && at.phase != releasing || slices.Equal(s.nodes(), standing)) ||
			!returned && blocker != nil && at.phase == queueing && s.asked.Load() > watches
	})
	cancel() // while the packet is on its way: the call must still return
	if !returned {
		o = s.await(done)
	}
	pass()
	switch {
	case o.err == nil:
		s.release(o.lease) // it was done before it could be cancelled
	case tr.refused != nil && errors.Is(o.err, tr.refused):
	case !errors.Is(o.err, context.Canceled):
		s.Errorf("%s, %s: a cancelled call returns %v", at, side, o.err)
	}
	s.leaves(standing)
	if blocker != nil {
		s.release(blocker)
	}
	s.ends(tr, bare)
	return there
}

func TestTheContextBoundsAnAcquireAlsoWithoutANetwork(t *testing.T) {
	// Curator bounds only the wait, not the retries.
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
	holder, c := connect(t, addrsOf(t)), connect(t, addrsOf(t))
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
