package recipes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// group holds acquirers that wait in the queue of a semaphore, behind another client that has all
// permits. All belong to the client whose packets wire intercepts. The client has seen them in
// the queue, so they can be admitted together.
type group struct {
	path    string
	data    []byte // data of each node; nil for the default
	wire    intercept
	other   *recipes.Lease
	waiting []<-chan result
	cancel  []context.CancelFunc
}

// newGroup makes a group. wants holds the number of permits of each member.
func newGroup(t *testing.T, size int, wants ...int) *group {
	g := &group{path: uniquePath(t)}
	conn := admin(t)
	g.gather(t, connect(t, addrsOf(t), recipes.WithDialer(g.wire.dial)), connect(t, addrsOf(t)), size, wants, func() int {
		return len(contenders(t, conn, g.path+"/locks"))
	})
	return g
}

// gather enqueues members of one client behind another client. length returns the number of nodes
// in the queue.
func (g *group) gather(t *testing.T, of, behind *recipes.Client, size int, wants []int, length func() int) {
	var err error
	if g.other, err = recipes.NewSemaphore(behind, g.path, size).AcquireN(within(t), size); err != nil {
		t.Fatal(err)
	}
	var options []recipes.LockOption
	if g.data != nil {
		options = append(options, recipes.WithData(g.data))
	}
	s := recipes.NewSemaphore(of, g.path, size, options...)
	const before = 2 // these give up: the first and second of a queue are listed alone, the third with all behind it
	for i, n := range append(make([]int, before), wants...) {
		ctx, cancel := context.WithCancel(within(t))
		done := make(chan result, 1)
		go func() {
			l, err := s.AcquireN(ctx, max(n, 1))
			done <- result{l, err}
		}()
		g.waiting, g.cancel = append(g.waiting, done), append(g.cancel, cancel)
		eventually(t, "it is in the queue", func() bool { return length() == i+1 })
	}
	for i := range before {
		g.cancel[i]()
		<-g.waiting[i]
	}
	g.waiting, g.cancel = g.waiting[before:], g.cancel[before:]
	eventually(t, "they have left", func() bool { return length() == len(wants) })
}

// takes releases the permits that the group waits for, and returns when the group's transaction,
// or its answer, is intercepted. That packet is held back until the returned function is called.
func (g *group) takes(t *testing.T, answer bool) (pass func()) {
	came, free := make(chan struct{}), make(chan struct{})
	first := true
	hold := func(op int32) bool {
		if op == opMulti && first {
			first = false
			close(came)
			<-free
		}
		return true
	}
	if answer {
		g.wire.on(nil, hold)
	} else {
		g.wire.on(hold, nil)
	}
	release(t, g.other)
	<-came
	return func() { close(free) }
}

// rest checks that all members except those in without have got permits, in the order of the
// queue, and that no node remains after they have released them.
func (g *group) rest(t *testing.T, without ...int) {
	t.Helper()
	var last recipes.Token
	var leases []*recipes.Lease
	for i, w := range g.waiting {
		if slices.Contains(without, i) {
			continue
		}
		l := (<-w).ok(t)
		if l.Token().Compare(last) <= 0 {
			t.Errorf("token %v after %v", l.Token(), last)
		}
		last, leases = l.Token(), append(leases, l)
	}
	eventually(t, "each has one permit, and no other acquirer has one", func() bool { return permits(t, g.path) == len(leases) })
	for _, l := range leases {
		release(t, l)
	}
	conn := admin(t)
	eventually(t, "nothing is left", func() bool {
		return permits(t, g.path) == 0 && len(contenders(t, conn, g.path+"/locks")) == 0
	})
}

func TestAContenderGivesUpWhileItsBatchIsUnderWay(t *testing.T) {
	for name, who := range map[string]int{"the one at the head": 0, "the last": 2} {
		for when, answer := range map[string]bool{"before the servers hear of it": false, "before their answer": true} {
			t.Run(name+", "+when, func(t *testing.T) {
				g := newGroup(t, 3, 1, 1, 1)
				pass := g.takes(t, answer)
				g.cancel[who]()
				if r := <-g.waiting[who]; !errors.Is(r.err, context.Canceled) {
					t.Errorf("the acquirer that gave up got %v", r.err)
				}
				pass()
				g.rest(t, who)
			})
		}
	}
}

func TestAllContendersGiveUpWhileTheirBatchIsUnderWay(t *testing.T) {
	g := newGroup(t, 3, 1, 1, 1)
	pass := g.takes(t, true)
	for i, cancel := range g.cancel {
		cancel()
		if r := <-g.waiting[i]; !errors.Is(r.err, context.Canceled) {
			t.Errorf("the acquirer that gave up got %v", r.err)
		}
	}
	pass()
	g.rest(t, 0, 1, 2)
}

func TestCurator45TheReplyToABatchIsLost(t *testing.T) {
	for name, executed := range map[string]bool{"the servers never got it": false, "the servers have carried it out": true} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 3, 1, 1, 1)
			if executed {
				g.wire.on(nil, once(opMulti, cut))
			} else {
				g.wire.on(once(opMulti, cut), nil)
			}
			release(t, g.other)
			g.rest(t)
		})
	}
}

// The permits are taken, and the client gets the answer when the session's last evidence is too
// old for a lease. The next heartbeat must come although no contender is left; else the permits
// are lost, and the acquire never returns.
func TestTheReplyToABatchComesAfterTheSessionsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		wire := intercept{through: e.Client("taker").DialContext}
		c, err := recipes.Connect(t.Context(), e.Servers(),
			recipes.WithSessionTimeout(timeout), recipes.WithServerTick(timeout*13/20), recipes.WithDialer(wire.dial))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		deadline := time.Now().Add(timeout - timeout/20)
		// The answer is held back for less than the third of a timeout after which a
		// heartbeat behind it would count as stuck. With ticks of this length no request that was
		// sent before it proves more than the beginning of the session.
		time.Sleep(timeout * 13 / 20)
		held := false
		wire.on(nil, once(opMulti, func() bool {
			held = true
			time.Sleep(time.Until(deadline) + 30*time.Millisecond)
			return true
		}))
		l, err := recipes.NewSemaphore(c, "/semaphore", 1).Acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if !held || !time.Now().After(deadline) {
			t.Errorf("held back: %v; granted %v after the deadline", held, time.Since(deadline))
		}
		if n := len(e.Children("/semaphore/leases")); n != 1 {
			t.Errorf("%d permits are out", n)
		}
		release(t, l)
	})
}

// The request that releases permits is lost. The release returns when the permits are released.
func TestAReleaseOfSeveralPermitsWaitsUntilTheyAreBack(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second), recipes.WithDialer(wire.dial))
	l, err := recipes.NewSemaphore(c, path, 2).AcquireN(within(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	goOn := make(chan struct{})
	wire.holdBack(opDelete, goOn)
	wire.on(once(opMulti, cut), nil)
	released := make(chan error, 1)
	go func() { released <- l.Release(t.Context()) }()
	time.Sleep(200 * time.Millisecond)
	if n := len(released); n > 0 {
		t.Errorf("it has returned, and %d permits are out", permits(t, path))
	}
	close(goOn)
	if err := <-released; err != nil {
		t.Error(err)
	}
	if n := permits(t, path); n != 0 {
		t.Errorf("%d permits are out", n)
	}
}

// Servers refuse a transaction of more than a megabyte, so contenders whose nodes hold much
// data are admitted in several.
func TestABatchHasABoundedSize(t *testing.T) {
	for _, c := range []struct{ data, batches int }{{20 << 10, 1}, {48 << 10, 2}} {
		synctest.Test(t, func(t *testing.T) {
			e := zktest.Start(t)
			g := &group{path: "/semaphore", data: make([]byte, c.data)}
			g.gather(t, bubbleClient(t, e, "of"), bubbleClient(t, e, "behind"), 3, []int{1, 1, 1}, func() int { return len(e.Children(g.path + "/locks")) })
			time.Sleep(100 * time.Millisecond)
			release(t, g.other)
			transactions := map[int64]bool{}
			for _, w := range g.waiting {
				l := (<-w).ok(t)
				transactions[l.Token().Zxid] = true
				defer release(t, l)
			}
			if len(transactions) != c.batches {
				t.Errorf("three with %d bytes each were admitted by %d transactions, want %d", c.data, len(transactions), c.batches)
			}
		})
	}
}

func TestAContenderGivesUpAndTheReplyToItsBatchIsLost(t *testing.T) {
	for name, executed := range map[string]bool{"the servers never got it": false, "the servers have carried it out": true} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 3, 1, 1, 1)
			gaveUp := func(op int32) bool {
				if op != opMulti {
					return true
				}
				g.wire.on(nil, nil)
				g.cancel[1]()
				<-g.waiting[1]
				return false
			}
			if executed {
				g.wire.on(nil, gaveUp)
			} else {
				g.wire.on(gaveUp, nil)
			}
			release(t, g.other)
			g.rest(t, 1)
		})
	}
}

func TestANodeOfABatchIsDeletedByAnotherClient(t *testing.T) {
	g := newGroup(t, 3, 1, 1, 1)
	pass := g.takes(t, false)
	conn := admin(t)
	places := contenders(t, conn, g.path+"/locks")
	slices.SortFunc(places, func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) })
	if err := conn.Delete(g.path+"/locks/"+places[1], -1); err != nil {
		t.Fatal(err)
	}
	pass()
	// It gets another place, behind the others.
	g.waiting = []<-chan result{g.waiting[0], g.waiting[2], g.waiting[1]}
	g.rest(t)
}

// TestABatchEndsAtTheFirstContenderThatDoesNotFit: an acquirer that asks for less does not
// overtake. Acquirers are admitted together only if each already waits for the one ahead: in a
// bubble the test can tell when all do.
func TestABatchEndsAtTheFirstContenderThatDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		g := &group{path: "/semaphore"}
		// The first two leave room for the last one only.
		g.gather(t, bubbleClient(t, e, "of"), bubbleClient(t, e, "behind"), 4, []int{1, 2, 3, 1}, func() int { return len(e.Children(g.path + "/locks")) })
		time.Sleep(100 * time.Millisecond)
		release(t, g.other)
		first, second := (<-g.waiting[0]).ok(t), (<-g.waiting[1]).ok(t)
		if first.Token().Zxid != second.Token().Zxid || first.Token().Sub >= second.Token().Sub {
			t.Errorf("tokens %v and %v: they were not admitted together", first.Token(), second.Token())
		}
		time.Sleep(100 * time.Millisecond)
		if n := len(e.Children(g.path + "/leases")); n != 3 {
			t.Errorf("%d permits are out", n)
		}
		select {
		case r := <-g.waiting[3]:
			t.Fatalf("the last one has overtaken: %v", r)
		default:
		}
		release(t, first)
		release(t, second)
		release(t, (<-g.waiting[2]).ok(t))
		release(t, (<-g.waiting[3]).ok(t))
	})
}

// The reply of a transaction that has taken permits is lost, and the server refuses the requests
// that would show its outcome. The acquire fails, and the permits that it may have taken are
// released.
func TestPermitsOfWhichNobodyMayHearAreGivenBack(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	s := recipes.NewSemaphore(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, 2)
	l, err := s.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	release(t, l)
	var lost, refused atomic.Bool
	wire.on(func(op int32) bool {
		if op == opChildren && lost.Load() && refused.CompareAndSwap(false, true) {
			return wire.refuse()
		}
		return true
	}, once(opMulti, func() bool { lost.Store(true); return false }))
	if l, err := s.AcquireN(within(t), 2); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("it returns %v, %v", l, err)
	}
	if !refused.Load() {
		t.Error("it does not ask for the outcome of the transaction")
	}
	eventually(t, "nothing is left", func() bool {
		return len(contenders(t, conn, path+"/locks"))+len(contenders(t, conn, path+"/leases")) == 0
	})
}
