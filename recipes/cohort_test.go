package recipes

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/zktest"
)

// A client's cohort of a lock with a hand-off ends with its last user.
func TestACohortGoesWithItsLastUser(t *testing.T) {
	var c cohorts
	for i := range 100 {
		path := fmt.Sprint("/lock-", i)
		if a, b := c.enter(path), c.enter(path); a != b {
			t.Fatal("two users of a path have two cohorts")
		}
		c.exit(path)
		if len(c.all) != 1 {
			t.Fatalf("%d cohorts while one is used", len(c.all))
		}
		c.exit(path)
		if len(c.all) != 0 {
			t.Fatalf("%d cohorts are left", len(c.all))
		}
	}
}

// One contender leads at a time, however many enter at once. They sleep, since other
// synchronization between them would hide a missing lock from the race detector.
func TestOneOfACohortLeadsAtATime(t *testing.T) {
	co, leaders := new(cohort), 0 // only the leader uses leaders
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 10 {
				time.Sleep(time.Duration(i) * time.Millisecond)
				_, leads, err := co.lead(t.Context(), true)
				if leaders++; !leads || err != nil || leaders != 1 {
					t.Errorf("leads %v, %v, one of %d", leads, err, leaders)
				}
				time.Sleep(time.Millisecond)
				leaders--
				co.resign()
			}
		})
	}
	all.Wait()
}

// A follower's context ends as it is given the baton: it has to pass the baton on.
func TestAFollowerThatIsGivenTheBatonAsItGivesUpHasIt(t *testing.T) {
	type got struct {
		b     baton
		leads bool
		err   error
	}
	co, place, led := &cohort{led: true}, new(queue.Contender), make(chan got)
	ctx := taken{context.Background(), make(chan struct{})}
	go func() { // ends when it has the baton
		b, leads, err := co.lead(ctx, true)
		led <- got{b, leads, err}
	}()
	for waits := false; !waits; runtime.Gosched() {
		co.mu.Lock()
		waits = len(co.followers) == 1
		co.mu.Unlock()
	}
	co.mu.Lock()
	ctx.done <- struct{}{} // it gives up, and waits for the cohort
	m := co.followers[0]
	co.followers = nil
	co.mu.Unlock()
	m.turn <- baton{place: place}
	if g := <-led; !g.leads || g.b.place != place || !errors.Is(g.err, context.Canceled) {
		t.Fatalf("%+v", g)
	}
}

// taken is a context whose end is sent to a goroutine that waits for it, so that the sender knows
// that the goroutine has noticed it.
type taken struct {
	context.Context
	done chan struct{}
}

func (c taken) Done() <-chan struct{} { return c.done }
func (c taken) Err() error            { return context.Canceled }

// The leadership, without a place, comes to a follower that is giving up: the follower passes it
// on.
func TestWhoGivesUpAsTheLeadershipComesPassesItOn(t *testing.T) {
	m := &Mutex{client: new(Client), path: "/lock"}
	co := m.client.cohorts.enter(m.path)
	co.led = true
	ctx, done := taken{context.Background(), make(chan struct{})}, make(chan error)
	go func() { // ends when it has passed it on
		_, err := m.handoff(ctx, ownership{}, true, time.Now())
		done <- err
	}()
	for waits := false; !waits; runtime.Gosched() {
		co.mu.Lock()
		waits = len(co.followers) == 1
		co.mu.Unlock()
	}
	next := &follower{turn: make(chan baton, 1)}
	co.mu.Lock()
	ctx.done <- struct{}{} // it gives up, and waits for the cohort
	leaving := co.followers[0]
	leaving.turn <- baton{}
	co.followers = []*follower{next}
	co.mu.Unlock()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case b := <-next.turn:
		if b.place != nil {
			t.Error("with a place")
		}
	case <-time.After(10 * time.Second):
		t.Error("no contender leads any more")
	}
}

// A follower's context ends as it is handed the place of its leader: the place goes to the next
// follower, or is given up if there is none.
func TestAPlaceThatIsHandedToOneWhoGivesUpIsHandedOnOrLeft(t *testing.T) {
	for name, others := range map[string]int{"no other follower waits": 0, "another one waits": 1} {
		t.Run(name, func(t *testing.T) {
			e := zktest.Start(t)
			c, err := Connect(t.Context(), e.Servers(), WithDialer(e.Client("client").DialContext))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close(context.Background()) }()
			m := NewMutex(c, "/lock", WithLocalHandoff(5))
			l, err := m.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			co := c.cohorts.enter(m.path)
			defer c.cohorts.exit(m.path)
			waiting := func() int {
				co.mu.Lock()
				defer co.mu.Unlock()
				return len(co.followers)
			}
			ctx, gaveUp, released := taken{context.Background(), make(chan struct{})}, make(chan error), make(chan error)
			go func() { // ends when it has given up
				_, err := m.handoff(ctx, ownership{}, true, time.Now())
				gaveUp <- err
			}()
			for waiting() < 1 {
				runtime.Gosched()
			}
			next := make(chan *Lease, others)
			for range others {
				go func() { // ends when it has had its turn
					l, err := m.Acquire(t.Context())
					if err != nil {
						t.Error(err)
					}
					next <- l
				}()
			}
			for waiting() < 1+others {
				runtime.Gosched()
			}
			co.mu.Lock()
			// A test cannot see that a goroutine waits for a mutex. If the release is late, it
			// gives up its place, and the following checks hold as well.
			go func() { released <- l.Release(t.Context()) }() // ends with the release, which waits for the cohort
			time.Sleep(20 * time.Millisecond)
			ctx.done <- struct{}{} // it gives up, and waits for the cohort behind the release
			time.Sleep(20 * time.Millisecond)
			co.mu.Unlock()
			if err := <-gaveUp; !errors.Is(err, context.Canceled) {
				t.Errorf("the follower that gives up gets %v", err)
			}
			if err := <-released; err != nil {
				t.Error(err)
			}
			for range others {
				handed := <-next
				if got, place := handed.Token(), l.Token(); got.Compare(place) <= 0 {
					t.Errorf("the token %v comes after %v", got, place)
				}
				if err := handed.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
			for deadline := time.Now().Add(10 * time.Second); len(e.Children("/lock")) > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("left: %v", e.Children("/lock"))
				}
			}
			if waiting() > 0 || co.led {
				t.Errorf("%d wait, and one leads: %v", waiting(), co.led)
			}
		})
	}
}
