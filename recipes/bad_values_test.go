package recipes_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// lockTrial is one acquire of some lock, made with options.
type lockTrial func(c *recipes.Client, path string, options ...recipes.LockOption) callFunc

var lockTrials = map[string]lockTrial{
	"Mutex": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		return leasing(recipes.NewMutex(c, path, o...).Acquire)
	},
	"Mutex, handed on": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		return leasing(recipes.NewMutex(c, path, append(slices.Clip(o), recipes.WithLocalHandoff(3))...).Acquire)
	},
	"NonReentrantMutex": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		return leasing(recipes.NewNonReentrantMutex(c, path, o...).Acquire)
	},
	"Write": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		return leasing(recipes.NewReadWriteMutex(c, path, o...).Write().Acquire)
	},
	"Semaphore": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		return permitsOf(recipes.NewSemaphore(c, path, 3, o...), 3)
	},
	"MultiLock": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		return leasing(recipes.NewMultiLock(recipes.NewMutex(c, path+"/a", o...), recipes.NewMutex(c, path+"/b", o...)).Acquire)
	},
	"MultiLock with a Semaphore": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		return leasing(recipes.NewMultiLock(recipes.NewMutex(c, path+"/a"), recipes.NewSemaphore(c, path+"/b", 1, o...)).Acquire)
	},
	"Barrier": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		b := recipes.NewBarrier(c, path+"/barrier", o...)
		return func(ctx context.Context) (releaser, error) { return releaseFunc(b.Remove), b.Set(ctx) }
	},
	"DoubleBarrier": func(c *recipes.Client, path string, o ...recipes.LockOption) callFunc {
		b := recipes.NewDoubleBarrier(c, path+"/double", 1, o...)
		return func(ctx context.Context) (releaser, error) { return releaseFunc(b.Leave), b.Enter(ctx) }
	},
}

// onEveryLock runs f for each kind of lock. It checks that the same client keeps the lease of
// another mutex all the while.
func onEveryLock(t *testing.T, f func(s *stage, lock lockTrial)) {
	leavesNoGoroutine(t)
	for name, lock := range lockTrials {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			bystander := acquire(t, within(t), recipes.NewMutex(s.c, uniquePath(t)))
			s.at(uniquePath(t))
			f(s, lock)
			s.leaves(nil)
			s.release(s.must(lock(s.c, s.path)))
			s.leaves(nil)
			eventually(t, "no watch is left", func() bool { return s.watches() == 0 })
			if !bystander.Valid() {
				t.Error("another lease of the client has suffered")
			}
			release(t, bystander)
		})
	}
}

// Servers cut the connection at a packet that is too large. A client that treated this as a fault
// would send the packet again and again, and endanger its other leases.
func TestDataThatIsTooLargeIsRefusedAndHarmsNobody(t *testing.T) {
	needReal(t, "ZooKeeper closes a connection that brings too much")
	onEveryLock(t, func(s *stage, lock lockTrial) {
		before := s.c.SessionID()
		for _, size := range []int{1<<20 - 100, 1 << 20, 1536 << 10, 3 << 20} {
			ctx, cancel := context.WithTimeout(s.Context(), 5*time.Second)
			if _, err := lock(s.c, s.path, recipes.WithData(make([]byte, size)))(ctx); !errors.Is(err, recipes.ErrTooLarge) {
				s.Errorf("%d bytes: %v", size, err)
			}
			cancel()
		}
		if s.c.SessionID() != before {
			s.Error("the session has ended")
		}
	})
}

func TestAWriteThatIsTooLargeIsRefusedAndTheLeaseStays(t *testing.T) {
	c := connect(t, addrsOf(t))
	path := uniquePath(t)
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	_, err := l.Multi(within(t), &zk.CreateRequest{Path: path + "/data", Data: make([]byte, 1<<20), Acl: zk.WorldACL(zk.PermAll)})
	if !errors.Is(err, recipes.ErrTooLarge) || errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	if !l.Valid() {
		t.Error("the lease has suffered")
	}
	release(t, l)
}

func TestAnUnusableAccessControlListIsRefusedByEveryLock(t *testing.T) {
	for what, acl := range map[string][]zk.ACL{
		"an empty list":       {},
		"an unknown scheme":   {{Perms: zk.PermAll, Scheme: "nonsense", ID: "x"}},
		"no credentials":      zk.AuthACL(zk.PermAll),
		"a malformed address": {{Perms: zk.PermAll, Scheme: "ip", ID: "127.0.0.1/999"}},
	} {
		t.Run(what, func(t *testing.T) {
			onEveryLock(t, func(s *stage, lock lockTrial) {
				if _, err := lock(s.c, s.path, recipes.WithLockACL(acl...))(within(s.T)); !errors.Is(err, zk.ErrInvalidACL) {
					s.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestBadNumbersOfPermitsLeaveNothingBehind(t *testing.T) {
	s := newStage(t)
	s.at(uniquePath(t))
	var asked atomic.Int64
	s.wire.on(counting(&asked), nil)
	for _, test := range []struct {
		n, size int
		want    error
	}{
		{0, 3, recipes.ErrBadPermits}, {-1, 3, recipes.ErrBadPermits}, {math.MinInt, 3, recipes.ErrBadPermits},
		{1, 0, recipes.ErrBadPermits}, {1, -1, recipes.ErrBadPermits}, {1, math.MinInt, recipes.ErrBadPermits},
		{4, 3, recipes.ErrTooManyPermits}, {math.MaxInt, 3, recipes.ErrTooManyPermits},
		{1001, 2000, recipes.ErrTooManyPermits}, {math.MaxInt, math.MaxInt, recipes.ErrTooManyPermits},
	} {
		sem := recipes.NewSemaphore(s.c, s.path, test.size)
		if _, err := sem.AcquireN(within(t), test.n); !errors.Is(err, test.want) {
			t.Errorf("%d of %d: %v", test.n, test.size, err)
		}
		if _, err := sem.TryAcquireN(within(t), test.n); !errors.Is(err, test.want) {
			t.Errorf("a try of %d of %d: %v", test.n, test.size, err)
		}
	}
	if _, err := recipes.NewSemaphore(s.c, s.path, 2000).AcquireN(within(t), 1001); err == nil || !strings.Contains(err.Error(), "1001 asked for, 1000 at a time") {
		t.Errorf("%v does not say how many may be asked for", err)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests", n)
	}
	s.release(s.must(permitsOf(recipes.NewSemaphore(s.c, s.path, 3), 3)))
	s.leaves(nil)
}

// A shared size of 0 or less is not an error, because the size may be raised.
func TestASharedSizeOfNothingIsWaitedFor(t *testing.T) {
	for _, size := range []int{0, -1, math.MinInt32} {
		s := newStage(t)
		s.at(uniquePath(t))
		count := recipes.NewSharedCount(s.other, s.path+"/size", size)
		sem := recipes.NewSharedSemaphore(s.c, s.path, count)
		if _, err := sem.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Errorf("a try with a size of %d: %v", size, err)
		}
		watches := s.asked.Load()
		done := calling(within(t), permitsOf(sem, 2))
		s.watched(watches)
		if err := count.Set(within(t), 2); err != nil {
			t.Fatal(err)
		}
		o := s.await(done)
		if o.err != nil {
			t.Fatal(o.err)
		}
		s.release(o.lease)
		s.leaves(nil)
	}
}

func TestABadSharedCountIsAnErrorOfEverybodyWhoReadsIt(t *testing.T) {
	s := newStage(t)
	s.at(uniquePath(t))
	refused := func(what string, count *recipes.SharedCount) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if n, err := count.Get(ctx); n != 0 || !errors.Is(err, recipes.ErrBadCount) {
			t.Errorf("%s: got %d, %v", what, n, err)
		}
		for name, call := range map[string]callFunc{
			"Acquire":    permitsOf(recipes.NewSharedSemaphore(s.c, s.path, count), 2),
			"TryAcquire": leasing(recipes.NewSharedSemaphore(s.c, s.path, count).TryAcquire),
		} {
			if _, err := call(ctx); !errors.Is(err, recipes.ErrBadCount) {
				t.Errorf("%s, %s: %v", what, name, err)
			}
		}
		s.leaves(nil)
	}
	for _, n := range []int{math.MaxInt32 + 1, math.MinInt32 - 1, math.MaxInt, math.MinInt} {
		refused("an initial value that does not fit", recipes.NewSharedCount(s.c, s.path+"/size", n))
		if err := recipes.NewSharedCount(s.c, s.path+"/size", 1).Set(within(t), n); !errors.Is(err, recipes.ErrBadCount) {
			t.Errorf("set to %d: %v", n, err)
		}
	}
	if exists(t, s.conn, s.path+"/size") {
		t.Error("a count is left")
	}
	for _, data := range []string{"", "123", "12345"} {
		path := s.path + "/size" + data
		if _, err := s.conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		count := recipes.NewSharedCount(s.c, path, 2)
		refused("other data", count)
		if err := count.Set(within(t), 2); err != nil { // repairs it
			t.Error(err)
		}
		s.release(s.must(permitsOf(recipes.NewSharedSemaphore(s.c, s.path, count), 2)))
		s.leaves(nil)
	}
}

func TestConnectGivenNonsense(t *testing.T) {
	needServers(t)
	leavesNoGoroutine(t)
	for what, option := range map[string]recipes.Option{
		"no session timeout":         recipes.WithSessionTimeout(0),
		"a negative session timeout": recipes.WithSessionTimeout(-time.Second),
		"less than a millisecond":    recipes.WithSessionTimeout(999 * time.Microsecond),
		"a month":                    recipes.WithSessionTimeout(30 * 24 * time.Hour),
		"a negative tick":            recipes.WithServerTick(-1),
	} {
		if c, err := recipes.Connect(within(t), addrsOf(t), option); !errors.Is(err, recipes.ErrBadOption) {
			t.Errorf("%s: %v, %v", what, c, err)
		}
	}
	if c, err := recipes.Connect(within(t), nil); err == nil {
		t.Errorf("without servers: %v", c)
	}
	for _, server := range []string{":0", ":", "host:port", "127.0.0.1:99999", "no such host:2181"} {
		if c, err := recipes.Connect(within(t), []string{server}); !errors.Is(err, recipes.ErrBadServers) {
			t.Errorf("%q: %v, %v", server, c, err)
		}
	}
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(math.MaxInt32*time.Millisecond)) // the servers negotiate
	release(t, acquire(t, within(t), recipes.NewMutex(c, uniquePath(t))))
}
