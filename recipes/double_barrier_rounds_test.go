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
	clients := []*recipes.Client{connect(t, addrsOf(t)), connect(t, addrsOf(t))}
	for range 10 {
		var enters, leaves []func(context.Context) error
		for i := range 5 {
			b := recipes.NewDoubleBarrier(clients[i%2], path, 3)
			enters, leaves = append(enters, b.Enter), append(leaves, b.Leave)
		}
		together(t, enters...)
		// All members wait for all others, in every order.
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
			succeeds(t, w)
		}
		nothingLeft(t, conn, path)
	}
}

func TestDoubleBarrierWaitsForAMemberThatJoinedAtTheLastMoment(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	a := recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second)), path, 1)
	late := recipes.NewDoubleBarrier(connect(t, addrsOf(t)), path, 1)
	// Either may have the lower name. The last request ends the round.
	for i := range 18 {
		does(t, a.Enter)
		wire.on(once([]int32{opGetData, opChildren, opMulti}[i%3], func() bool {
			does(t, late.Enter)
			return true
		}), nil)
		leaving := going(within(t), a.Leave)
		eventually(t, "it waits after all", func() bool { return watchesAt(t, path) == 1 })
		waits(t, leaving)
		does(t, late.Leave)
		succeeds(t, leaving)
		nothingLeft(t, conn, path)
	}
}

func TestDoubleBarrierTakesNobodyIntoARoundThatIsOver(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	a := recipes.NewDoubleBarrier(connect(t, addrsOf(t)), path, 2)
	b := recipes.NewDoubleBarrier(connect(t, addrsOf(t)), path, 2)
	late := recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second)), path, 2)
	for range 6 {
		together(t, a.Enter, b.Enter)
		reached, goOn := make(chan struct{}), make(chan struct{})
		wire.on(once(opMulti, func() bool { close(reached); <-goOn; return true }), nil) // it joins
		entering := going(within(t), late.Enter)
		<-reached
		// The member that it counted, and the other, leave without waiting.
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
		succeeds(t, entering)
		together(t, a.Leave, late.Leave)
		does(t, b.Leave)
		nothingLeft(t, conn, path)
	}
}

// TestDoubleBarrierOverRoundsUnderLinkFaults: no member passes early, and none stays behind,
// under all faults of the links.
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
			t.Error("a member stays behind")
		}
	}
	close(over)
	faults.Wait()
	oracle.check(t)
	nothingLeft(t, conn, path)
}

// TestDoubleBarrierWithMembersThatDoNotWaitForTheOthers: all of them give up the wait in Leave at
// random, and resume it.
func TestDoubleBarrierWithMembersThatDoNotWaitForTheOthers(t *testing.T) {
	const n, rounds = 5, 20
	path := uniquePath(t)
	conn := admin(t)
	clients := []*recipes.Client{connect(t, addrsOf(t)), connect(t, addrsOf(t)), connect(t, addrsOf(t))}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	oracle := newSteps(n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			draw := rand.New(rand.NewPCG(seed, uint64(i)))
			b := recipes.NewDoubleBarrier(clients[i%3], path, n)
			for round := range rounds {
				oracle.arrives(round)
				if err := b.Enter(within(t)); err != nil {
					t.Errorf("round %d: %v", round, err)
					return
				}
				oracle.entered(round)
				oracle.leaves(round)
				for give := true; give; {
					ctx, cancel := context.WithTimeout(within(t), time.Duration(draw.IntN(20))*time.Millisecond)
					err := b.Leave(ctx)
					cancel()
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("round %d: %v", round, err)
						return
					}
					if err == nil {
						oracle.left(round)
					}
					// Both its next Enter and another Leave resume the wait.
					give = err != nil && draw.IntN(3) > 0
				}
			}
			does(t, func(ctx context.Context) error {
				if err := b.Leave(ctx); !errors.Is(err, recipes.ErrNotEntered) {
					return err
				}
				return nil
			})
		})
	}
	all.Wait()
	oracle.check(t)
	nothingLeft(t, conn, path)
}

// TestDoubleBarrierWithMembersThatComeAndGoAsTheyLike: five members of a barrier for three, which
// give up at random. For each member that returns from Leave there was an instant since its call
// at which no member was inside. A member is inside from the return of Enter to the call of
// Leave.
func TestDoubleBarrierWithMembersThatComeAndGoAsTheyLike(t *testing.T) {
	const n, each = 3, 30
	path := uniquePath(t)
	conn := admin(t)
	clients := []*recipes.Client{connect(t, addrsOf(t)), connect(t, addrsOf(t)), connect(t, addrsOf(t))}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var mu sync.Mutex
	inside, passes := 0, 0
	least := map[int]int{} // the fewest inside since a member called Leave
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			draw := rand.New(rand.NewPCG(seed, uint64(i)))
			b := recipes.NewDoubleBarrier(clients[i%3], path, n)
			bounded := func(call func(context.Context) error) error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+draw.IntN(300))*time.Millisecond)
				defer cancel()
				err := call(ctx)
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				return err
			}
			for range each {
				if bounded(b.Enter) != nil {
					continue
				}
				mu.Lock()
				inside++
				passes++
				mu.Unlock()

				mu.Lock()
				inside--
				least[i] = inside
				for who := range least {
					least[who] = min(least[who], inside)
				}
				mu.Unlock()
				err := bounded(b.Leave)
				mu.Lock()
				if err == nil && least[i] > 0 {
					t.Errorf("Leave returned while there were always at least %d inside", least[i])
				}
				delete(least, i)
				mu.Unlock()
			}
			// Its last Leave may still have to complete.
			if err := b.Leave(within(t)); err != nil && !errors.Is(err, recipes.ErrNotEntered) {
				t.Errorf("last leave: %v", err)
			}
		})
	}
	all.Wait()
	if passes == 0 {
		t.Error("no member ever passed: the test shows nothing")
	}
	t.Logf("%d passes", passes)
	nothingLeft(t, conn, path)
}
