package queue

import (
	"testing"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// A look that was requested before a permit was given back may still have seen the permit,
// and may be learned after the permit's node is known to be gone.
func TestAPermitThatIsGivenBackDuringALookIsNotLearned(t *testing.T) {
	var l ledger
	l.take([]string{"/s/a", "/s/b"}, 1)
	l.looks++
	l.free([]string{"/s/a"})
	l.deleted("/s/a")
	l.learn(&permits{size: 2, out: map[string]bool{"/s/a": true, "/s/b": true}}, 1)
	if l.known.out["/s/a"] || !l.known.out["/s/b"] {
		t.Errorf("known to be out: %v", l.known.out)
	}
	l.looked()
	if len(l.freed) != 0 || len(l.gone) != 0 || l.looks != 0 {
		t.Errorf("after the look: %v, %v, %d", l.freed, l.gone, l.looks)
	}
}

// A permit that was given back is not remembered for ever.
func TestAPermitThatIsGoneIsForgotten(t *testing.T) {
	var l ledger
	l.take([]string{"/s/a"}, 1)
	l.free([]string{"/s/a"})
	if !l.freed["/s/a"] {
		t.Error("a look could learn it before it is gone")
	}
	l.deleted("/s/a")
	if len(l.freed) != 0 || len(l.gone) != 0 {
		t.Errorf("remembered: %v, %v", l.freed, l.gone)
	}
}

// A queue that is no longer used is not kept: a client may use any number of locks.
func TestAQueueIsKeptForAsLongAsItIsUsed(t *testing.T) {
	s := new(session.Session)
	first, second := localQueueOf(s, "/a", Locks), localQueueOf(s, "/a", Locks)
	if first != second {
		t.Fatal("two of one queue")
	}
	other := localQueueOf(s, "/b", Locks)
	first.exit()
	if all := localQueuesOf(s).all; len(all) != 2 {
		t.Errorf("%d queues are kept of 2 that are used", len(all))
	}
	second.exit()
	other.exit()
	if all := localQueuesOf(s).all; len(all) != 0 {
		t.Errorf("%d unused queues are kept", len(all))
	}
}

// Pools that are the same get leases in one batch.
func TestPoolsAreTheSameBySemaphoreAndSize(t *testing.T) {
	count, other := &Count{Path: "/n"}, &Count{Path: "/m"}
	of := func(path string, size int, c *Count) *Pool { return &Pool{Path: path, Size: size, Count: c} }
	for _, c := range []struct {
		a, b *Pool
		same bool
	}{
		{of("/s", 2, nil), of("/s", 2, nil), true},
		{of("/s", 2, nil), of("/s", 3, nil), false},
		{of("/s", 2, nil), of("/t", 2, nil), false},
		{of("/s", 0, count), of("/s", 0, nil), false},
		{of("/s", 0, count), of("/s", 0, &Count{Path: "/n"}), true},
		{of("/s", 0, count), of("/s", 0, other), false},
		{of("/s", 0, count), of("/t", 0, count), false},
	} {
		if c.a.same(c.b) != c.same || c.b.same(c.a) != c.same {
			t.Errorf("%+v and %+v: the same is not %v", c.a, c.b, c.same)
		}
	}
}
