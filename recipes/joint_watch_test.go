package recipes_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// jointStage is a queue with some nodes ahead of a client that waits, and watches the last
// two of them by one request.
type jointStage struct {
	t      *testing.T
	path   string
	others outsider // created those ahead
	ahead  []string
	wire   *intercept
	c      *recipes.Client
}

// newJointStage creates the queue. The session timeout is so long that no periodic poll hides a
// missed wake-up.
func newJointStage(t *testing.T, ahead int) *jointStage {
	s := &jointStage{t: t, path: uniquePath(t), others: admin(t), wire: new(intercept)}
	s.queueUp(ahead)
	s.c = connect(t, addrsOf(t), recipes.WithDialer(s.wire.dial), recipes.WithSessionTimeout(40*time.Second))
	return s
}

// newBubbleStage is newJointStage in virtual time.
func newBubbleStage(t *testing.T, ahead int) *jointStage {
	e := zktest.Start(t)
	s := &jointStage{t: t, path: "/lock", others: outsider{bubbleClient(t, e, "others").Conn()}}
	s.c, s.wire = interceptedClient(t, e, "waiter", recipes.WithSessionTimeout(40*time.Second))
	s.queueUp(ahead)
	return s
}

func (s *jointStage) queueUp(ahead int) {
	persistent(s.t, s.others, s.path)
	for range ahead {
		node, err := s.others.Create(s.path+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		if err != nil {
			s.t.Fatal(err)
		}
		s.ahead = append(s.ahead, node)
	}
}

// goes deletes the nodes at these indices.
func (s *jointStage) goes(indices ...int) {
	s.t.Helper()
	for _, i := range indices {
		if err := s.others.Delete(s.ahead[i], -1); err != nil {
			s.t.Fatal(err)
		}
	}
}

// waits starts an acquire of the client, and returns when the client watches.
func (s *jointStage) waits(ctx context.Context, watches int) <-chan result {
	s.t.Helper()
	waiting := acquiring(ctx, recipes.NewMutex(s.c, s.path))
	eventually(s.t, "it watches", func() bool { return watchesBelow(s.t, s.path) == watches })
	return waiting
}

// settles is waits in virtual time.
func (s *jointStage) settles(ctx context.Context) <-chan result {
	waiting := acquiring(ctx, recipes.NewMutex(s.c, s.path))
	time.Sleep(time.Second)
	return waiting
}

// is checks that the client does not get the lock before free, and gets it afterwards.
func (s *jointStage) is(waiting <-chan result, free func()) {
	s.t.Helper()
	select {
	case r := <-waiting:
		s.t.Fatalf("with a node ahead it has %v, %v", r.lease, r.err)
	case <-time.After(50 * time.Millisecond):
	}
	free()
	release(s.t, (<-waiting).ok(s.t))
}

// The nodes ahead are deleted in every order, while the client waits; the last delete lets the
// client in.
func TestInWhichOrderThoseAheadGo(t *testing.T) {
	for _, order := range [][]int{
		{0, 1}, {1, 0}, {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {3, 2, 1, 0}, {0, 3, 1, 2}, {3, 0, 2, 1}, {0, 1, 2, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newBubbleStage(t, len(order))
			var first, asked atomic.Int32
			s.wire.on(func(op int32) bool {
				if op == opCreate || op == opChildren {
					first.CompareAndSwap(0, op)
				}
				return true
			}, nil)
			waiting := s.settles(within(t))
			s.wire.on(func(op int32) bool {
				if op == opGetData || op == opChildren {
					asked.Add(1)
				}
				return true
			}, nil)
			for _, i := range order[:len(order)-1] {
				s.goes(i)
				time.Sleep(time.Second) // it gets the event, and sends the necessary requests
			}
			s.is(waiting, func() { s.goes(order[len(order)-1]) })
			// Rarely the list overtakes its create, and another list follows.
			if n := asked.Load(); len(order) == 2 && n > 0 && first.Load() == opCreate {
				t.Errorf("in the order %v it asks %d times for what it has been told", order, n)
			}
		})
	}
}

// The nodes may be deleted while the request that is to watch them is on its way: the server then
// answers with their events.
func TestThoseAheadGoBeforeTheyAreWatched(t *testing.T) {
	for _, gone := range [][]int{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}} {
		s := newJointStage(t, 3)
		let := make(chan struct{})
		held := s.wire.holdBack(opSetWatches, let)
		waiting := acquiring(within(t), recipes.NewMutex(s.c, s.path))
		<-held
		s.goes(gone...)
		left := map[int]bool{0: true, 1: true, 2: true}
		for _, i := range gone {
			delete(left, i)
		}
		rest := func() {
			for i := range left {
				s.goes(i)
			}
		}
		close(let)
		if len(left) == 0 {
			release(t, (<-waiting).ok(t))
			continue
		}
		s.is(waiting, rest)
	}
}

// A joint watch is gone with its connection, and go-zookeeper does not set it again.
func TestThoseAheadGoWhileTheConnectionIsAway(t *testing.T) {
	for name, gone := range map[string][]int{
		"none": nil, "the nearest": {2}, "the one before it": {1}, "both": {1, 2}, "all": {0, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newJointStage(t, 3)
			waiting := s.waits(within(t), 2)
			cutOff := make(chan struct{})
			s.wire.on(func(op int32) bool {
				select {
				case <-cutOff:
					return true
				default:
				}
				s.goes(gone...)
				close(cutOff)
				return false
			}, nil)
			_, _, _ = s.c.Conn().Exists("/") // the next request ends the connection
			left := map[int]bool{0: true, 1: true, 2: true}
			for _, i := range gone {
				delete(left, i)
			}
			if len(left) == 0 {
				release(t, (<-waiting).ok(t))
				return
			}
			s.is(waiting, func() {
				for i := range left {
					s.goes(i)
				}
			})
		})
	}
}

// The request itself ends the connection: the client does not know whether the server received
// it.
func TestTheConnectionBreaksAtTheJointWatch(t *testing.T) {
	s := newJointStage(t, 3)
	var wasCut bool
	s.wire.on(once(opSetWatches, func() bool { wasCut = true; return false }), nil)
	waiting := s.waits(within(t), 2)
	if !wasCut {
		t.Error("nothing was cut")
	}
	s.goes(0, 1)
	s.is(waiting, func() { s.goes(2) })
}

// A contender that waits behind the same nodes as an earlier one that gave up, in the same
// session, uses its watches.
func TestAJointWatchOutlivesWhoHasSetIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBubbleStage(t, 3)
		ctx, cancel := context.WithCancel(t.Context())
		first := s.settles(ctx)
		cancel()
		if r := <-first; r.err == nil {
			t.Fatal("it has the lock")
		}
		s.goes(2) // without a waiter
		time.Sleep(time.Second)
		asked := make(chan struct{}, 10)
		s.wire.on(func(op int32) bool {
			if op == opSetWatches {
				asked <- struct{}{}
			}
			return true
		}, nil)
		waiting := s.settles(within(t))
		s.goes(1)
		s.is(waiting, func() { s.goes(0) })
		if len(asked) != 0 {
			t.Error("it watches what is watched")
		}
	})
}

// A client asks the contender ahead to release the lock: the data of its node changes, and the
// node stays.
func TestTheDataOfThoseAheadChanges(t *testing.T) {
	for i := range 3 {
		s := newJointStage(t, 3)
		waiting := s.waits(within(t), 2)
		if _, err := admin(t).Set(s.ahead[i], []byte("__REVOKE__"), -1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // it gets the event
		s.goes(0, 1)
		s.is(waiting, func() { s.goes(2) })
	}
}

// No event comes, as from servers that send none to a client that may not read the node: the
// client polls, and watches each node by a request of its own, which is answered.
func TestThoseAheadCannotBeWatchedTogether(t *testing.T) {
	path := uniquePath(t)
	persistent(t, admin(t), path)
	for range 3 {
		if _, err := admin(t).Create(path+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.DigestACL(zk.PermAll, "holder", "password")); err != nil {
			t.Fatal(err)
		}
	}
	var wire intercept
	wire.loseEvents()
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(4*time.Second))
	if l, err := recipes.NewMutex(c, path).Acquire(within(t)); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("got %v, %v", l, err)
	}
}
