package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// The token of a permit is in the reply to the transaction that takes it: the client sends no
// request for it.
func TestAPermitIsAPlaceATransactionAndItsLists(t *testing.T) {
	path := uniquePath(t)
	c, sent := counted(t)
	s := recipes.NewSemaphore(c, path, 2)
	cycle := func() {
		l, err := s.Acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if l.Token() == (recipes.Token{}) {
			t.Error("a permit without a token")
		}
		release(t, l)
	}
	cycle()
	sent()
	const n = 20
	for range n {
		cycle()
	}
	got := sent()
	if got[opMulti] != n || got[opCreate] != n || got[opDelete] != n || got[opExists]+got[opGetData] != 0 {
		t.Errorf("requests by operation: %v", got)
	}
}

// A contender without another one of its session in the queue requests the list right after the
// create, in one round trip.
func TestTheListIsAskedForBehindTheCreate(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second), recipes.WithDialer(wire.dial))
	release(t, acquire(t, within(t), recipes.NewMutex(c, path))) // the parents are there
	listed := make(chan struct{})
	wire.on(once(opChildren, func() bool { close(listed); return true }), once(opCreate, func() bool {
		select {
		case <-listed:
		case <-time.After(patient):
			t.Error("the list is not asked for before the create is answered")
		}
		return true
	}))
	release(t, acquire(t, within(t), recipes.NewMutex(c, path)))
}

// At most 64 requests of a session are under way, and the test reaches that number.
func TestHowManyRequestsAreUnderWayAtATime(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(time.Minute), recipes.WithDialer(wire.dial))
	release(t, acquire(t, within(t), recipes.NewMutex(c, path))) // the parents are there
	var asked atomic.Int32
	answer := make(chan struct{})
	wire.on(func(op int32) bool {
		if opNames[op] != "" {
			asked.Add(1)
		}
		return true
	}, func(op int32) bool {
		if opNames[op] != "" {
			<-answer
		}
		return true
	})
	const all = 100
	done := make(chan error, all)
	for range all {
		go func() { // ends when it has had its turn
			l, err := recipes.NewMutex(c, path).Acquire(within(t))
			if err == nil {
				err = l.Release(within(t))
			}
			done <- err
		}()
	}
	eventually(t, "64 requests are under way", func() bool { return asked.Load() >= 64 })
	time.Sleep(50 * time.Millisecond)
	if n := asked.Load(); n != 64 {
		t.Errorf("%d requests are under way", n)
	}
	close(answer)
	for range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A waiter that was woken without its turn waits as before.
func TestAWaiterThatWasWokenInVainDoesNotAskAgainAndAgain(t *testing.T) {
	path := uniquePath(t)
	others := connect(t, addrsOf(t))
	s := recipes.NewSemaphore(others, path, 3)
	var held []*recipes.Lease
	for range 3 {
		l, err := s.Acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
	}
	c, sent := counted(t)
	waits := make(chan result, 1)
	go func() {
		l, err := recipes.NewSemaphore(c, path, 3).AcquireN(t.Context(), 3)
		waits <- result{l, err}
	}()
	eventually(t, "it waits", func() bool { return len(contenders(t, admin(t), path+"/locks")) == 1 })
	for _, l := range held[:2] {
		release(t, l)
		time.Sleep(300 * time.Millisecond) // it reads the list, and sends no more requests
	}
	if got := sent(); got[opChildren]+got[opMulti]+got[opGetData] > 20 {
		t.Errorf("requests by operation: %v", got)
	}
	release(t, held[2])
	release(t, (<-waits).ok(t))
}

// The same holds for a waiter whose semaphore's size has changed, and is still too small.
func TestAWaiterThatTheSizeHasWokenInVainDoesNotAskAgainAndAgain(t *testing.T) {
	path := uniquePath(t)
	others := connect(t, addrsOf(t))
	size := recipes.NewSharedCount(others, path+"-size", 1)
	if err := size.Set(within(t), 1); err != nil {
		t.Fatal(err)
	}
	held, err := recipes.NewSharedSemaphore(others, path, size).Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	c, sent := counted(t)
	waits := make(chan result, 1)
	go func() {
		l, err := recipes.NewSharedSemaphore(c, path, recipes.NewSharedCount(c, path+"-size", 1)).AcquireN(t.Context(), 4)
		waits <- result{l, err}
	}()
	eventually(t, "it waits", func() bool { return len(contenders(t, admin(t), path+"/locks")) == 1 })
	time.Sleep(300 * time.Millisecond) // it watches
	sent()
	for n := 2; n < 5; n++ {
		if err := size.Set(within(t), n); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // it reads the list, and sends no more requests
	}
	if got := sent(); got[opChildren]+got[opMulti]+got[opGetData] > 40 {
		t.Errorf("requests by operation: %v", got)
	}
	release(t, held)
	release(t, (<-waits).ok(t))
}

// The reply to the connect request is evidence enough for the first lease.
func TestTheFirstAcquireOfASessionWaitsForNoHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubbleClient(t, zktest.Start(t), "c")
		start := time.Now()
		l, err := recipes.NewMutex(c, "/lock").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Set returns an error if the count's node cannot be created.
func TestACountThatCannotBeMadeIsNotSet(t *testing.T) {
	c := connect(t, addrsOf(t))
	path := fmt.Sprintf("/of-a-session-%d", nextID.Add(1))
	if _, err := c.Conn().Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if err := recipes.NewSharedCount(c, path+"/count", 0).Set(within(t), 1); !errors.Is(err, zk.ErrNoChildrenForEphemerals) {
		t.Errorf("below a node that can have no children: %v", err)
	}
}

// A bad path is reported also when the context has ended.
func TestABadPathOfABarrierIsSaidToBeBadWhateverTheContext(t *testing.T) {
	c := connect(t, addrsOf(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := recipes.NewBarrier(c, "relative").Wait(ctx); !errors.Is(err, recipes.ErrBadPath) {
		t.Errorf("got %v", err)
	}
}

// The servers would refuse the path too, with another error.
func TestARevocationOfABadPathAsksNobody(t *testing.T) {
	c, sent := counted(t)
	for _, bad := range []string{"", "lock-0000000001", "//lock-0000000001", "/a/../lock-0000000001"} {
		if err := c.Revoke(within(t), bad); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("at %q: %v", bad, err)
		}
	}
	if got := sent(); got[opSetData] != 0 {
		t.Errorf("requests by operation: %v", got)
	}
}
