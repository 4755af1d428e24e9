package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

var errNotNeeded = errors.New("not needed any more")

// inABatch returns a contender in a batch, and its context, which has ended. Its session is
// about to end, so that no request is made.
func inABatch(t *testing.T) (context.Context, *batch, *Contender) {
	ended, end := context.WithCancel(t.Context())
	end()
	s := &session.Session{Ended: make(chan struct{}), Quit: ended}
	q := localQueueOf(s, "/s/locks", Locks)
	pool := &Pool{Path: "/s", Size: 1}
	c := &Contender{S: s, q: q, Node: "lock-0000000001", rule: Exclusive, woken: make(chan struct{}, 1), permits: &request{pool: pool, n: 1}}
	q.join(c)
	b := &batch{s: s, q: q, pool: pool, members: []*Contender{c}, done: make(chan struct{})}
	requestOf(c).batch = b
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNotNeeded)
	return ctx, b, c
}

// A contender that gives up as a batch ends takes the permits that the batch has given or
// gives them back, depending on what it notices first.
func TestWhatABatchGivesToWhoGivesUpIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noticed := map[bool]int{} // by whether it takes the permits
		for range 200 {
			ctx, b, c := inABatch(t)
			var back atomic.Int32
			requestOf(c).on = Grant{Zxid: 7, Release: func(bool) error { back.Add(1); return nil }}
			b.over = true
			close(b.done)
			on, err := b.await(ctx, c)
			synctest.Wait()
			takes := err == nil && on.Zxid == 7
			noticed[takes]++
			if !takes && !errors.Is(err, errNotNeeded) || (back.Load() == 0) != takes {
				t.Fatalf("it returns %+v, %v, and %d are given back", on, err, back.Load())
			}
		}
		if noticed[true] == 0 || noticed[false] == 0 {
			t.Errorf("it takes it: %v", noticed)
		}
	})
}

// A contender that gives up before a batch ends is out of the batch: the batch gives its
// permits back. If the batch has given none, a node in the queue is left to delete.
func TestWhoGivesUpLeavesTheQueueIfABatchFails(t *testing.T) {
	for name, first := range map[string]bool{"it gives up first": true, "the batch fails first": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for range 20 { // a select draws
					ctx, b, c := inABatch(t)
					leaves := func() bool {
						b.q.mu.Lock()
						defer b.q.mu.Unlock()
						return b.q.going[c.Node]
					}
					fail := func() { b.finish(nil, nil, session.ErrEnded) }
					if !first {
						fail()
					}
					if _, err := b.await(ctx, c); !errors.Is(err, errNotNeeded) && !errors.Is(err, session.ErrEnded) {
						t.Errorf("it returns %v", err)
					}
					if first {
						if leaves() {
							t.Error("it leaves while the batch may give it permits")
						}
						fail()
					}
					if !leaves() {
						t.Error("its node stays in the queue")
					}
					close(b.s.Ended)
					synctest.Wait()
				}
			})
		})
	}
}
