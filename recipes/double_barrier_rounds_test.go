package recipes_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

func TestDoubleBarrierWithMoreMembersThanNeeded(t *testing.T) {
	// n is a threshold, not a limit.
	path := uniquePath(t)
	conn := admin(t)
	clients := []*recipes.Client{connect(t, addrs()), connect(t, addrs())}
	for range 10 {
		var enters, leaves []func(context.Context) error
		for i := range 5 {
			b := recipes.NewDoubleBarrier(clients[i%2], path, 3)
			enters, leaves = append(enters, b.Enter), append(leaves, b.Leave)
		}
		together(t, enters...)
		// Everybody waits for everybody, whatever the order.
		var waiting []<-chan error
		rand.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
		for _, leave := range leaves[1:] {
			waiting = append(waiting, going(within(t), leave))
		}
		eventually(t, "they wait", func() bool { return watchesAt(t, path) >= 1 && len(members(t, conn, path)) <= 2 })
		for _, w := range waiting {
			waits(t, w)
		}
		does(t, leaves[0])
		for _, w := range waiting {
			if err := returns(t, w); err != nil {
				t.Fatal(err)
			}
		}
		nothingLeft(t, conn, path)
	}
}

func TestDoubleBarrierWaitsForAMemberThatJoinedAtTheLastMoment(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	a := recipes.NewDoubleBarrier(connect(t, addrs(), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second)), path, 1)
	late := recipes.NewDoubleBarrier(connect(t, addrs()), path, 1)
	for range 6 { // either may have the lower name
		does(t, a.Enter)
		wire.on(once(opMulti, func() bool { // a has found itself alone and ends the round
			does(t, late.Enter)
			return true
		}), nil)
		leaving := going(within(t), a.Leave)
		eventually(t, "it waits after all", func() bool { return watchesAt(t, path) == 1 })
		waits(t, leaving)
		does(t, late.Leave)
		if err := returns(t, leaving); err != nil {
			t.Fatal(err)
		}
		nothingLeft(t, conn, path)
	}
}

func TestDoubleBarrierTakesNobodyIntoARoundThatIsOver(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	a := recipes.NewDoubleBarrier(connect(t, addrs()), path, 2)
	b := recipes.NewDoubleBarrier(connect(t, addrs()), path, 2)
	late := recipes.NewDoubleBarrier(connect(t, addrs(), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second)), path, 2)
	for range 6 {
		together(t, a.Enter, b.Enter)
		reached, goOn := make(chan struct{}), make(chan struct{})
		wire.on(once(opMulti, func() bool { close(reached); <-goOn; return true }), nil) // it joins
		entering := going(within(t), late.Enter)
		<-reached
		// The member that it relies on, and the other, leave without waiting.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for _, m := range []*recipes.DoubleBarrier{a, b} {
			if err := m.Leave(gone); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		awaitMembers(t, conn, path, 1)
		close(goOn)
		eventually(t, "it waits for the next round", func() bool { return childWatches(t) == 1 && !exists(t, conn, path+"/ready") })
		waits(t, entering)
		does(t, a.Enter)
		if err := returns(t, entering); err != nil {
			t.Fatal(err)
		}
		together(t, a.Leave, late.Leave)
		does(t, b.Leave)
		nothingLeft(t, conn, path)
	}
}

// TestDoubleBarrierOverRoundsUnderLinkFaults: nobody passes early, and nobody
// stays behind, whatever happens to the links.
func TestDoubleBarrierOverRoundsUnderLinkFaults(t *testing.T) {
	const n, rounds = 5, 5
	path := uniquePath(t)
	conn := admin(t)
	var clients []*recipes.Client
	var all [][]links.Link
	for range 3 {
		addresses, ls := linked(t)
		clients, all = append(clients, connect(t, addresses, recipes.WithSessionTimeout(10*time.Second))), append(all, ls)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	over := make(chan struct{})
	var faults sync.WaitGroup
	faults.Go(func() {
		cuts := links.Cuts()
		for {
			ls, cut := all[draw.IntN(len(all))], cuts[draw.IntN(len(cuts))]
			cutAll(t, ls, cut)
			select {
			case <-time.After(time.Duration(20+draw.IntN(200)) * time.Millisecond):
			case <-over:
			}
			healAll(t, ls)
			select {
			case <-time.After(time.Duration(draw.IntN(100)) * time.Millisecond):
			case <-over:
				return
			}
		}
	})
	oracle := newSteps(n)
	done := make(chan error, n)
	for i := range n {
		go func() {
			b := recipes.NewDoubleBarrier(clients[i%len(clients)], path, n)
			for round := range rounds {
				if err := oracle.take(t.Context(), b, round); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range n {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(2 * patient):
			t.Error("somebody stays behind")
		}
	}
	close(over)
	faults.Wait()
	oracle.check(t)
	nothingLeft(t, conn, path)
}

// crowd is an oracle for members that come, give up and go as they like. A
// member is present from the call of Enter to the call of Leave or the failure
// of Enter, and inside from the return of Enter.
type crowd struct {
	mu              sync.Mutex
	present, inside int
	most            map[any]int // present at once since a call of Enter
	least           map[any]int // inside at once since a call of Leave
}

func (c *crowd) change(present, inside int) {
	c.present += present
	c.inside += inside
	for who, n := range c.most {
		c.most[who] = max(n, c.present)
	}
	for who, n := range c.least {
		c.least[who] = min(n, c.inside)
	}
}

func (c *crowd) does(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// TestDoubleBarrierWithMembersThatComeAndGoAsTheyLike: five members of a barrier
// for three, which give up at random.
func TestDoubleBarrierWithMembersThatComeAndGoAsTheyLike(t *testing.T) {
	const n, each = 3, 30
	path := uniquePath(t)
	conn := admin(t)
	clients := []*recipes.Client{connect(t, addrs()), connect(t, addrs()), connect(t, addrs())}
	c := &crowd{most: map[any]int{}, least: map[any]int{}}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	passes := 0
	for i := range 5 {
		all.Go(func() {
			draw := rand.New(rand.NewPCG(seed, uint64(i)))
			b := recipes.NewDoubleBarrier(clients[i%3], path, n)
			bounded := func(call func(context.Context) error) error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+draw.IntN(300))*time.Millisecond)
				defer cancel()
				return call(ctx)
			}
			for range each {
				c.does(func() { c.most[b] = 0; c.change(1, 0) })
				err := bounded(b.Enter)
				if err != nil {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("enter: %v", err)
					}
					c.does(func() { c.change(-1, 0); delete(c.most, b) })
					continue
				}
				c.does(func() {
					c.change(0, 1)
					passes++
					if c.most[b] < n {
						t.Errorf("entered when at most %d were there at once", c.most[b])
					}
					delete(c.most, b)
				})
				c.does(func() { c.least[b] = n + 5; c.change(-1, -1) })
				err = bounded(b.Leave)
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("leave: %v", err)
				}
				c.does(func() {
					if err == nil && c.least[b] > 0 {
						t.Errorf("let go while there were always at least %d inside", c.least[b])
					}
					delete(c.least, b)
				})
			}
			// It may still have to catch up.
			if err := b.Leave(within(t)); err != nil && !errors.Is(err, recipes.ErrNotEntered) {
				t.Errorf("last leave: %v", err)
			}
		})
	}
	all.Wait()
	if passes == 0 {
		t.Error("nobody ever passed: this shows nothing")
	}
	t.Logf("%d passes", passes)
	nothingLeft(t, conn, path)
}
