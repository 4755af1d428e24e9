package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

func data(text string) recipes.LockOption { return recipes.WithData([]byte(text)) }

// holders hold locks, and others wait behind them, until ctx ends.
type holders struct {
	*world
	ctx     context.Context
	waiting sync.WaitGroup
}

func (h *holders) acquire(f func(context.Context) (*recipes.Lease, error)) {
	h.T.Helper()
	if _, err := f(h.ctx); err != nil {
		h.T.Fatal(err)
	}
}

// wait begins to wait, and returns when the place in the queue is taken.
func (h *holders) wait(f func(context.Context) error) {
	h.waiting.Go(func() {
		if err := f(h.ctx); err != nil && h.ctx.Err() == nil {
			h.T.Error(err)
		}
	})
	time.Sleep(time.Second)
}

func (h *holders) waits(l recipes.Lock) {
	h.wait(func(ctx context.Context) error { _, err := l.Acquire(ctx); return err })
}

// locks takes one lock of each recipe with client a, and makes client b wait for it.
func (h *holders) locks(a, b *recipes.Client) {
	h.T.Helper()
	h.acquire(recipes.NewMutex(a, "/l/mutex", data("a")).Acquire)
	h.waits(recipes.NewMutex(b, "/l/mutex", data("b")))
	h.acquire(recipes.NewReadWriteMutex(a, "/l/rw", data("a")).Read().Acquire)
	h.acquire(recipes.NewReadWriteMutex(b, "/l/rw", data("b")).Read().Acquire)
	h.waits(recipes.NewReadWriteMutex(b, "/l/rw", data("b")).Write())
	h.waits(recipes.NewReadWriteMutex(a, "/l/rw", data("a")).Read())
	if _, err := recipes.NewSemaphore(a, "/l/semaphore", 3, data("a")).AcquireN(h.ctx, 2); err != nil {
		h.T.Fatal(err)
	}
	h.acquire(recipes.NewSemaphore(b, "/l/semaphore", 3, data("b")).Acquire)
	h.waits(recipes.NewSemaphore(b, "/l/semaphore", 3, data("b")))
	h.acquire(recipes.NewNonReentrantMutex(a, "/l/once", data("a")).Acquire)
	h.waits(recipes.NewNonReentrantMutex(b, "/l/once", data("b")))
	if _, err := recipes.NewElection(a, "/l/election", data("a")).Campaign(h.ctx); err != nil {
		h.T.Fatal(err)
	}
	h.wait(func(ctx context.Context) error {
		_, err := recipes.NewElection(b, "/l/election", data("b")).Campaign(ctx)
		return err
	})
	if _, err := recipes.NewMultiLock(recipes.NewMutex(a, "/l/m1", data("a")), recipes.NewMutex(a, "/l/m2", data("a"))).Acquire(h.ctx); err != nil {
		h.T.Fatal(err)
	}
	h.wait(func(ctx context.Context) error {
		_, err := recipes.NewMultiLock(recipes.NewMutex(b, "/l/m2", data("b")), recipes.NewMutex(b, "/l/m1", data("b"))).Acquire(ctx)
		return err
	})
	h.wait(func(ctx context.Context) error {
		return recipes.NewDoubleBarrier(a, "/l/barrier", 2, recipes.WithData([]byte("a"))).Enter(ctx)
	})
}

// TestWhoHoldsALockOfRecipes reads locks that clients of recipes have taken.
func TestWhoHoldsALockOfRecipes(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.client("a"), w.client("b")
		ctx, cancel := context.WithCancel(t.Context())
		h := holders{world: w, ctx: ctx}
		h.locks(a, b)

		found := w.find("/")
		want := map[string]string{
			"/l/mutex":     "mutex: *lock a lock b",
			"/l/rw":        "readwrite: *read a *read b write b read a",
			"/l/semaphore": "semaphore: *permit a *permit a *permit b lock b",
			"/l/once":      "semaphore: *permit a lock b",
			"/l/election":  "election: *candidate a candidate b",
			"/l/m1":        "mutex: *lock a lock b",
			"/l/m2":        "mutex: *lock a lock b",
			"/l/barrier":   "doublebarrier: member a",
		}
		if len(found.Locks) != len(want) {
			t.Errorf("found %q", paths(found))
		}
		for i := range found.Locks {
			l := &found.Locks[i]
			wantQueue(t, l, want[l.Path])
			wantQueue(t, w.read(l.Path), want[l.Path])
			for j := range l.Queue {
				c := &l.Queue[j]
				if node, _ := w.Node(c.Path); c.Session != node.Session || c.Token.Zxid != node.Czxid || c.Library != inspect.LibraryCurator || !c.Read {
					t.Errorf("%s is read as %+v, and is %+v", c.Path, c, node)
				}
			}
		}

		// The second member begins the round.
		h.wait(func(ctx context.Context) error {
			return recipes.NewDoubleBarrier(b, "/l/barrier", 2, recipes.WithData([]byte("b"))).Enter(ctx)
		})
		if l := w.read("/l/barrier"); strings.Count(queueText(l), "*member") != 2 || l.Round == nil {
			t.Errorf("the barrier is %s, round %v", queueText(l), l.Round)
		}
		cancel()
		h.waiting.Wait()
	})
}

// The token of the lease is that of its holder.
func TestTheTokenOfAHolderIsThatOfItsLease(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		lease, err := recipes.NewMutex(w.client("a"), "/l").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l := w.read("/l")
		if holder, waiter := l.Oldest(); holder == nil || holder.Token != lease.Token() || waiter != nil || inspect.Age(time.Now(), holder.Since).Round(time.Second) != time.Minute {
			t.Errorf("holder %+v, waiter %v; the lease has token %v", holder, waiter, lease.Token())
		}
		if held := l.With(lease.Token()); len(held) != 1 || held[0].Path != lease.Node() {
			t.Errorf("with the token: %v", held)
		}
	})
}

func TestAnAgeIsNeverNegative(t *testing.T) {
	if now := time.Now(); inspect.Age(now, now.Add(time.Hour)) != 0 || inspect.Age(now, now.Add(-time.Hour)) != time.Hour {
		t.Error("an hour before is", inspect.Age(now, now.Add(time.Hour)))
	}
}

// Queues whose nodes have the names of other libraries, or are no contenders.
func TestWhoHoldsByTheNamesOfOtherLibraries(t *testing.T) {
	zkLock := fmt.Sprintf("_c_%032x-lock-%010d", 7, 4)
	for name, test := range map[string]struct {
		nodes []string
		want  string
		of    inspect.Library
	}{
		"Curator's mutex is ordered by the sequence, not by the uuid": {[]string{curator(2, "lock-", 8), curator(1, "lock-", 9)}, "mutex: *lock 0 lock 1", inspect.LibraryCurator},
		"Curator's leader latch":                                   {[]string{curator(2, "latch-", 8), curator(1, "latch-", 9)}, "election: *candidate 0 candidate 1", inspect.LibraryCurator},
		"a writer of Curator's before readers":                     {[]string{curator(2, "__WRIT__", 1), curator(1, "__READ__", 2), curator(3, "__READ__", 3)}, "readwrite: *write 0 read 1 read 2", inspect.LibraryCurator},
		"a writer that was downgraded":                             {[]string{curator(2, "__WRIT__", 1), curator(3, "__READ__", 1), curator(1, "__READ__", 2)}, "readwrite: *write 0 *read 1 read 2", inspect.LibraryCurator},
		"sequence numbers that wrap":                               {[]string{curator(2, "lock-", 1<<31-1), curator(1, "lock-", -1<<31)}, "mutex: *lock 0 lock 1", inspect.LibraryCurator},
		"zk.Lock of go-zookeeper":                                  {[]string{zkLock}, "mutex: *lock 0", inspect.LibraryZK},
		"a kazoo lock":                                             {[]string{kazoo(2, "__lock__", 0), kazoo(1, "__lock__", 1)}, "mutex: *lock 0 lock 1", inspect.LibraryKazoo},
		"readers of kazoo's before a writer":                       {[]string{kazoo(2, "__rlock__", 0), kazoo(3, "__rlock__", 1), kazoo(1, "__lock__", 2), kazoo(4, "__rlock__", 3)}, "readwrite: *read 0 *read 1 write 2 read 3", inspect.LibraryKazoo},
		"a sequential node that is named as a lock":                {[]string{"lock-0000000003"}, "mutex: *lock 0", inspect.LibraryOther},
		"contenders of the lock recipe of ZooKeeper's own recipes": {[]string{"x-72057-0000000001", "x-72058-0000000002"}, "unknown:  0  1", inspect.LibraryOther},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				for i, node := range test.nodes {
					w.ephemeral("/l/"+node, fmt.Sprint(i))
				}
				found := w.find("/")
				if len(found.Locks) != 1 {
					t.Fatalf("found %q", paths(found))
				}
				wantQueue(t, &found.Locks[0], test.want)
				wantQueue(t, w.read("/l"), test.want)
				if of := found.Locks[0].Queue[0].Library; of != test.of {
					t.Errorf("the library is %q, want %q", of, test.of)
				}
				if n := len(found.Locks[0].Foreign); n != 0 {
					t.Errorf("%d foreign children", n)
				}
			})
		})
	}
}

// A semaphore of kazoo's: the node's data is its size, its queue is beside it.
func TestASemaphoreOfKazoos(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.persistent("/k/pool", "2")
		w.ephemeral("/k/pool/"+kazoo(1, "", 0)[:32], "one")
		w.ephemeral("/k/pool-__lock__/"+kazoo(2, "__lock__", 0), "two")
		w.ephemeral("/k/pool-__lock__/"+kazoo(3, "__lock__", 1), "three")
		found := w.find("/k")
		wantPaths(t, found, "/k/pool semaphore")
		const want = "semaphore: *permit one lock two lock three"
		wantQueue(t, &found.Locks[0], want)
		if l := w.read("/k/pool"); l.Size != 2 || queueText(l) != want {
			t.Errorf("read: %s of size %d", queueText(l), l.Size)
		}
		// While all permits are free only the queue shows the semaphore.
		if err := w.conn.Delete("/k/pool/"+kazoo(1, "", 0)[:32], -1); err != nil {
			t.Fatal(err)
		}
		wantQueue(t, &w.find("/").Locks[0], "semaphore: lock two lock three")
	})
}

// Folders that only look like locks.
func TestWhatIsNoLockIsNotFound(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.persistent("/queue/task-0000000001", "a queue of work persists")
		w.persistent("/users/"+curator(1, "", 0)[3:39], "a folder for each user")
		w.persistent("/app/locks", "")
		w.persistent("/app/leases/of-cars", "")
		w.persistent("/config/ready/set/go", "")
		w.persistent("/free", "")
		w.ephemeral("/app/locks/orders/"+curator(1, "lock-", 0), "")
		wantPaths(t, w.find("/"), "/app/locks/orders mutex")
		for path, want := range map[string]error{
			"/queue": inspect.ErrNoLock, "/users": inspect.ErrNoLock, "/app": inspect.ErrNoLock, "/config": inspect.ErrNoLock,
			"/free": inspect.ErrFree, "/none": zk.ErrNoNode, "relative": recipes.ErrBadPath, "/a//b": recipes.ErrBadPath,
		} {
			if _, err := inspect.Read(t.Context(), w.conn, path); !errors.Is(err, want) {
				t.Errorf("%s: error %v, want %v", path, err, want)
			}
		}
		for path, want := range map[string]error{"/none": zk.ErrNoNode, "relative": recipes.ErrBadPath} {
			if _, err := inspect.Find(t.Context(), w.conn, []string{"/app", path}); !errors.Is(err, want) {
				t.Errorf("%s: error %v, want %v", path, err, want)
			}
		}
	})
}

// A lock below a lock, and one path below another.
func TestLocksBelowLocksAreFoundOnce(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ephemeral("/l/"+curator(1, "lock-", 0), "")
		w.ephemeral("/l/item/"+curator(1, "lock-", 0), "")
		w.ephemeral("/lx/"+curator(1, "lock-", 0), "")
		wantPaths(t, w.find("/l", "/l/item", "/l"), "/l mutex", "/l/item mutex")
		wantPaths(t, w.find("/"), "/l mutex", "/l/item mutex", "/lx mutex")
	})
}

// Nodes whose permissions refuse the read are left out and reported. A stat shows all but
// the data.
func TestNodesThatMayNotBeRead(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		mine := zk.DigestACL(zk.PermAll, "owner", "secret")
		owner := w.raw("owner")
		if err := owner.AddAuth("digest", []byte("owner:secret")); err != nil {
			t.Fatal(err)
		}
		w.ephemeral("/l/open/"+curator(1, "lock-", 0), "")
		for _, node := range []string{"/l/shut", "/l/open/" + curator(2, "lock-", 1), "/l/shut/" + curator(2, "lock-", 1)} {
			flags := int32(zk.FlagEphemeral)
			if node == "/l/shut" {
				flags = 0
			}
			if _, err := owner.Create(node, []byte("hidden"), flags, mine); err != nil {
				t.Fatal(err)
			}
		}
		found := w.find("/l")
		wantPaths(t, found, "/l/open mutex")
		if u := found.Unreadable; len(u) != 1 || u[0].Path != "/l/shut" || !errors.Is(u[0].Err, zk.ErrNoAuth) {
			t.Errorf("unreadable: %v", u)
		}
		if c := found.Locks[0].Queue[1]; !c.Hidden || !c.Read || c.Session != owner.SessionID() || len(c.Data) != 0 {
			t.Errorf("the hidden contender is %+v", c)
		}
		if _, err := inspect.Read(t.Context(), w.conn, "/l/shut"); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("error %v", err)
		}
	})
}

// Data of a megabyte is not kept.
func TestLittleOfLongDataIsKept(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ephemeral("/l/"+curator(1, "lock-", 0), strings.Repeat("x", 1_000_000))
		if c := w.read("/l").Queue[0]; len(c.Data) != 256 || cap(c.Data) > 1024 || c.Size != 1_000_000 {
			t.Errorf("%d bytes in %d are kept of %d", len(c.Data), cap(c.Data), c.Size)
		}
	})
}

// Brief reads one holder and the first waiter of each lock, and no more.
func TestAnOverviewReadsTwoContendersOfALock(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		const n = 50
		for i := range n {
			w.ephemeral("/l/"+curator(i, "lock-", i), fmt.Sprint(i))
		}
		counted := &counting{Source: w.conn}
		found, err := inspect.Find(t.Context(), counted, []string{"/l"}, inspect.Brief())
		if err != nil {
			t.Fatal(err)
		}
		holder, waiter := found.Locks[0].Oldest()
		if string(holder.Data) != "0" || string(waiter.Data) != "1" {
			t.Errorf("holder %s, first waiter %s", holder.Data, waiter.Data)
		}
		if holders, waiters := found.Locks[0].Count(); holders != 1 || waiters != n-1 {
			t.Errorf("%d holders, %d waiters", holders, waiters)
		}
		if counted.gets != 2 {
			t.Errorf("%d nodes were read", counted.gets)
		}
	})
}

// counting counts reads, and how many are under way at once.
type counting struct {
	inspect.Source
	mu              sync.Mutex
	gets, now, most int
}

func (c *counting) Get(path string) ([]byte, *zk.Stat, error) {
	c.mu.Lock()
	c.gets++
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	return c.Source.Get(path)
}

// At most as many requests are under way as are allowed, and that many if there is work.
func TestRequestsAreUnderWayTogetherUpToABound(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 100 {
			w.ephemeral("/l/"+curator(i, "lock-", i), "")
		}
		for _, n := range []int{1, 8} {
			counted := &counting{Source: w.conn}
			if _, err := inspect.Find(t.Context(), counted, []string{"/l"}, inspect.Parallel(n)); err != nil {
				t.Fatal(err)
			}
			if counted.most != n {
				t.Errorf("%d requests were under way at once, want %d", counted.most, n)
			}
		}
	})
}

func TestReadingEndsWithItsContext(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 100 {
			w.ephemeral(fmt.Sprintf("/l/%d/%s", i, curator(i, "lock-", i)), "")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		stops := &stopping{Source: w.conn, stop: func() { cancel(enough) }}
		if _, err := inspect.Find(ctx, stops, []string{"/l"}); !errors.Is(err, enough) {
			t.Errorf("error %v", err)
		}
	})
}

type stopping struct {
	inspect.Source
	stop func()
}

func (s *stopping) Get(path string) ([]byte, *zk.Stat, error) {
	s.stop()
	return s.Source.Get(path)
}
