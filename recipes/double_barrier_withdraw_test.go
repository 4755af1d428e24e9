package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// Members that give up: their remaining nodes do not count.

func TestCurator318AMemberThatGivesUpLeavesNoGhost(t *testing.T) {
	path := uniquePath(t)
	a, b, _, _ := pair(t, path)
	conn := admin(t)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := a.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("alone: %v", err)
		}
		cancel()
	}
	nothingLeft(t, conn, path)
	entering := going(within(t), b.Enter)
	awaitMembers(t, conn, path, 1)
	waits(t, entering)
	does(t, a.Enter)
	succeeds(t, entering)
	together(t, a.Leave, b.Leave)
	nothingLeft(t, conn, path)
}

// endsWhenAsked is a context that ends right after the first call of its Err.
type endsWhenAsked struct {
	context.Context
	end context.CancelFunc
}

func (c endsWhenAsked) Err() error {
	defer c.end()
	return c.Context.Err()
}

func TestCurator318EntersThatEndAtAnyInstantLeaveNoGhost(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	conn := admin(t)
	ctx, cancel := context.WithCancel(within(t))
	one := going(ctx, recipes.NewDoubleBarrier(c, path, 100).Enter) // keeps the directory in existence
	awaitMembers(t, conn, path, 1)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			b := recipes.NewDoubleBarrier(c, path, 100)
			for j := range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 0 {
					ctx = endsWhenAsked{ctx, cancel}
				} else {
					time.AfterFunc(time.Duration(i*50+j)*10*time.Microsecond, cancel)
				}
				if err := b.Enter(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	all.Wait()
	awaitMembers(t, conn, path, 1)
	cancel()
	if err := returns(t, one); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	nothingLeft(t, conn, path)
}

func TestCurator80TheGhostOfAMemberThatTriesAgainDoesNotCount(t *testing.T) {
	// The delete of its first node is delayed. With its second node it would count as two members
	// alone.
	path := uniquePath(t)
	a, b, wire, _ := pair(t, path)
	conn := admin(t)
	ctx, cancel := context.WithCancel(within(t))
	entering := going(ctx, a.Enter)
	awaitMembers(t, conn, path, 1)
	var tries atomic.Int64
	wire.on(func(op int32) bool {
		if op == opDelete {
			tries.Add(1)
		}
		return op != opDelete
	}, nil)
	cancel()
	if err := returns(t, entering); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	entering = going(within(t), a.Enter)
	eventually(t, "the delete has failed again and again", func() bool { return tries.Load() > 5 })
	waits(t, entering)
	if m := members(t, conn, path); len(m) != 1 {
		t.Errorf("one member has the nodes %v", m)
	}
	wire.on(nil, nil)
	does(t, b.Enter)
	succeeds(t, entering)
	if m := members(t, conn, path); len(m) != 2 {
		t.Errorf("members: %v", m)
	}
	together(t, a.Leave, b.Leave)
	nothingLeft(t, conn, path)
}

func TestCurator318AMemberGivesUpBetweenTheCountAndTheBeginning(t *testing.T) {
	path := uniquePath(t)
	a, b, wireA, wireB := pair(t, path)
	conn := admin(t)
	ctx, cancel := context.WithCancel(within(t))
	first := going(ctx, a.Enter)
	eventually(t, "it waits", func() bool { return childWatches(t) == 1 })
	wireA.loseEvents()                   // a must not begin it
	wireB.on(once(opMulti, func() bool { // b has counted two and begins the round
		cancel()
		if err := returns(t, first); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		awaitMembers(t, conn, path, 1)
		return true
	}), nil)
	hook, looks := counter(opChildren)
	wireB.mu.Lock()
	wireB.reply = hook
	wireB.mu.Unlock()
	second := going(within(t), b.Enter)
	eventually(t, "it has counted again and waits", func() bool { return looks.Load() >= 2 && childWatches(t) == 1 })
	waits(t, second)
	if exists(t, conn, path+"/ready") {
		t.Error("a round has begun with one member of two")
	}
	wireA.mu.Lock()
	wireA.deaf = false
	wireA.mu.Unlock()
	does(t, a.Enter)
	succeeds(t, second)
	together(t, a.Leave, b.Leave)
	nothingLeft(t, conn, path)
}

func TestDoubleBarrierCancelledWhileTheRoundBegins(t *testing.T) {
	// The documentation of Enter describes this moment.
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("enters again %v", again), func(t *testing.T) {
			path := uniquePath(t)
			a, b, wireA, _ := pair(t, path)
			conn := admin(t)
			ctx, cancel := context.WithCancel(within(t))
			entering := going(ctx, a.Enter)
			awaitMembers(t, conn, path, 1)
			eventually(t, "it waits", func() bool { return childWatches(t) == 1 })
			// The list that holds the ready node is on its way.
			reached, goOn := make(chan struct{}), make(chan struct{})
			wireA.on(nil, once(opChildren, func() bool { close(reached); <-goOn; return true }))
			does(t, b.Enter)
			<-reached
			cancel()
			if err := returns(t, entering); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			close(goOn)
			awaitMembers(t, conn, path, 1)
			if again {
				does(t, a.Enter) // into the same round
				together(t, a.Leave, b.Leave)
			} else {
				does(t, b.Leave)
			}
			nothingLeft(t, conn, path)
			together(t, a.Enter, b.Enter)
			together(t, a.Leave, b.Leave)
		})
	}
}

// An administrator deletes the node of a member before the member has the answer to its create.
func TestAMemberWhoseNodeIsGoneAtOnceArrivesAgain(t *testing.T) {
	path := uniquePath(t)
	a, b, wire, _ := pair(t, path)
	conn := admin(t)
	wire.on(nil, once(opCreate, func() bool {
		for _, name := range members(t, conn, path) {
			if err := conn.Delete(path+"/"+name, -1); err != nil {
				t.Error(err)
			}
		}
		return true
	}))
	persistent(t, conn, path) // the first create is that of the member's node
	entering := going(within(t), a.Enter)
	awaitMembers(t, conn, path, 1)
	does(t, b.Enter)
	succeeds(t, entering)
	together(t, a.Leave, b.Leave)
}

// The create of a member's node reaches the server after all requests that the client sends after
// it has given up.
func TestAMemberThatGivesUpWaitsForItsCreate(t *testing.T) {
	path := uniquePath(t)
	a, _, wire, _ := pair(t, path)
	conn := admin(t)
	persistent(t, conn, path)
	goOn := make(chan struct{})
	asked := wire.holdBack(opCreate, goOn)
	ctx, cancel := context.WithCancel(within(t))
	entering := going(ctx, a.Enter)
	<-asked
	cancel()
	time.Sleep(50 * time.Millisecond) // its later requests overtake the create
	close(goOn)
	if err := returns(t, entering); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	time.Sleep(50 * time.Millisecond)
	nothingLeft(t, conn, path)
}

func TestDoubleBarrierCancelledByTheOneWhoBeginsTheRound(t *testing.T) {
	for _, n := range []int{1, 2} {
		for _, side := range []string{"request", "reply", "reply, and that to the delete is lost"} {
			t.Run(fmt.Sprintf("%d members, %s", n, side), func(t *testing.T) {
				path := uniquePath(t)
				var wire intercept
				a := recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, n)
				b := recipes.NewDoubleBarrier(connect(t, addrsOf(t)), path, n)
				conn := admin(t)
				var other <-chan error
				if n == 2 {
					other = going(within(t), b.Enter)
					awaitMembers(t, conn, path, 1)
				}
				reached, goOn := make(chan struct{}), make(chan struct{})
				hook := once(opMulti, func() bool { close(reached); <-goOn; return true })
				switch side {
				case "request":
					wire.on(hook, nil)
				case "reply":
					wire.on(nil, hook)
				default:
					lost := once(opDelete, cut)
					wire.on(nil, func(op int32) bool { return hook(op) && lost(op) })
				}
				ctx, cancel := context.WithCancel(within(t))
				entering := going(ctx, a.Enter)
				<-reached
				cancel()
				if err := returns(t, entering); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				close(goOn)
				if n == 2 {
					// The round has begun: to the other member this one has left.
					succeeds(t, other)
					awaitMembers(t, conn, path, 1)
					does(t, b.Leave)
				}
				nothingLeft(t, conn, path)
			})
		}
	}
}

// roles runs a test twice: with the member that has the lowest name, which ends the round, as the
// subject, and with the other member. It makes both enter first.
func roles(t *testing.T, test func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept)) {
	for _, lowest := range []bool{true, false} {
		t.Run(fmt.Sprintf("lowest name %v", lowest), func(t *testing.T) {
			path := uniquePath(t)
			conn := admin(t)
			a, b, wireA, wireB := pair(t, path)
			together(t, a.Enter, b.Enter)
			idA, _ := wireA.credentials()
			if lowest == (lowestOwner(t, conn, path) == idA) {
				test(t, conn, path, a, b, wireA)
			} else {
				test(t, conn, path, b, a, wireB)
			}
		})
	}
}

// lowestOwner returns the session of the member with the lowest name.
func lowestOwner(t *testing.T, conn outsider, path string) int64 {
	t.Helper()
	_, stat, err := conn.Get(path + "/" + slices.Min(members(t, conn, path)))
	if err != nil {
		t.Fatal(err)
	}
	return stat.EphemeralOwner
}

func TestCurator654EntersThatEndLeaveNoWatches(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	conn := admin(t)
	b := recipes.NewDoubleBarrier(c, path, 2) // one member: a second would count the node that the first leaves behind
	for range 30 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := b.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	nothingLeft(t, conn, path)
}

// A member whose session ends while it waits deletes its node before it enters again, or it might
// count twice. If the delete is refused it does not enter.
func TestAMemberWhoseLastNodeCannotBeDeletedDoesNotEnter(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	b := recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, 2)
	entering := going(within(t), b.Enter)
	awaitMembers(t, conn, path, 1)
	if _, err := conn.SetACL(path, zk.WorldACL(zk.PermAll&^zk.PermDelete), -1); err != nil {
		t.Fatal(err)
	}
	expire(t, &wire)
	if err := returns(t, entering); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("enter: %v", err)
	}
	awaitMembers(t, conn, path, 0)
}
