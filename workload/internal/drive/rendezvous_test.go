package drive

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestARendezvousSendsWholeRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clean atomic.Bool
		l := newRendezvous(2, time.Second, false, clean.Load)
		joined := make(chan *round)
		join := func(patience time.Duration, pushy bool) { joined <- l.join(t.Context(), patience, pushy) }

		wanted := func(want bool) {
			t.Helper()
			if got := l.wanted(); got != want {
				t.Errorf("a client waits for others: %v, want %v", got, want)
			}
		}
		wanted(false)
		go join(time.Second, false)
		synctest.Wait()
		wanted(true)
		if r := <-joined; r != nil {
			t.Fatalf("one went alone: %+v", r)
		}
		wanted(false)
		go join(time.Second, false)
		go join(time.Second, false)
		a, b := <-joined, <-joined
		if a == nil || a != b || a.generation != 1 {
			t.Fatalf("two went together: %+v and %+v", a, b)
		}
		wanted(false)
		a.end(false)
		go join(time.Second, false)
		if r := <-joined; r != nil {
			t.Fatal("a round began while another was under way")
		}
		b.end(true)

		// A broken round needs a rest, and no node of it may be left.
		start := time.Now()
		time.AfterFunc(5*time.Second, func() { clean.Store(true) })
		go join(time.Minute, false)
		go join(time.Minute, false)
		a, b = <-joined, <-joined
		if a == nil || a != b || a.generation != 2 || time.Since(start) < 5*time.Second {
			t.Fatalf("after a broken round: %+v and %+v after %v", a, b, time.Since(start))
		}
		a.end(false)
		b.end(false)

		// A client that does not wait goes alone, and that breaks the round.
		go join(time.Second, true)
		a = <-joined
		if a == nil || !a.short || a.generation != 3 {
			t.Fatalf("alone: %+v", a)
		}
		a.end(false)
		if l.notBefore.IsZero() {
			t.Error("a round of too few did not count as broken")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r := l.join(ctx, time.Minute, true); r != nil {
			t.Error("a client went when the run was over")
		}
	})
}

// The rounds of clients that also wander have no number, and the first waits until those have gone.
func TestARendezvousOfClientsThatWander(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		l := newRendezvous(1, 0, true, func() bool { return time.Since(start) > time.Second })
		for range 2 {
			r := l.join(t.Context(), time.Minute, false)
			if r == nil || r.generation != 0 || r.turnsBack() || r.comesAgain() || time.Since(start) < time.Second {
				t.Fatalf("after %v: %+v", time.Since(start), r)
			}
			r.end(false)
		}
	})
}

// A look for nodes that a broken round has left takes some milliseconds. A client whose time
// ends meanwhile is not counted in: the others would be in a round with a client that may do
// something else by then, such as turn back.
func TestNobodyJoinsWhoseTimeEndsInALookAtWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const look = 3 * time.Millisecond
		l := newRendezvous(1, 0, false, func() bool { time.Sleep(look); return true }) // a client goes as soon as it comes
		l.notBefore = time.Now().Add(-time.Second)                                     // a round was broken
		ending, end := context.WithTimeout(t.Context(), look-1)
		defer end()
		if r := l.join(ending, time.Minute, false); r != nil {
			t.Errorf("it went in a round: %+v", r)
		}
		if r := l.join(t.Context(), time.Minute, false); r == nil || r.generation != 1 {
			t.Errorf("the next one went in %+v", r)
		}
	})
}

// Nor is a client counted that has joined, if the last one comes at the instant in which the
// first one's time ends.
func TestNobodyIsCountedWhoseTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newRendezvous(2, 0, false, func() bool { return true })
		rounds := make(chan *round)
		ending, end := context.WithCancel(t.Context())
		go func() { rounds <- l.join(ending, time.Minute, false) }()
		synctest.Wait() // it waits for another
		l.mu.Lock()     // it cannot leave
		end()
		r := l.next
		l.mu.Unlock()
		go func() { rounds <- l.join(t.Context(), time.Second, false) }()
		if a, b := <-rounds, <-rounds; a != nil || b != nil {
			t.Errorf("a round of %d began: %+v, %+v", len(r.members), a, b)
		}
	})
}
