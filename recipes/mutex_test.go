package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

func TestContendersOfSeveralClientsTakeTurnsInTheOrderOfTheirArrival(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	first := connect(t, addrsOf(t))
	held := acquire(t, within(t), recipes.NewMutex(first, path))

	const n = 12
	clients := []*recipes.Client{first, connect(t, addrsOf(t)), connect(t, addrsOf(t))}
	var mu sync.Mutex
	var order []int
	inside := 0
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			l, err := recipes.NewMutex(clients[i%len(clients)], path).Acquire(within(t))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, i)
			inside++
			if inside > 1 {
				t.Errorf("%d holders at once", inside)
			}
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside--
			mu.Unlock()
			if err := l.Release(within(t)); err != nil {
				t.Error(err)
			}
		})
		eventually(t, "the contender is in the queue", func() bool { return len(contenders(t, conn, path)) == i+2 })
	}
	release(t, held)
	wg.Wait()
	if !slices.IsSorted(order) || len(order) != n {
		t.Errorf("turns were taken in the order %v", order)
	}
	if left := contenders(t, conn, path); len(left) > 0 {
		t.Errorf("left in the queue: %v", left)
	}
}

func TestTokensGrowFromHolderToHolder(t *testing.T) {
	path := uniquePath(t)
	a, b := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	var last recipes.Token
	for i := range 6 {
		c := a
		if i%2 == 1 {
			c = b
		}
		l := acquire(t, within(t), recipes.NewMutex(c, path))
		if l.Token().Compare(last) <= 0 {
			t.Errorf("token %v after %v", l.Token(), last)
		}
		last = l.Token()
		_, stat, err := conn.Get(l.Node())
		if err != nil {
			t.Fatal(err)
		}
		if stat.Czxid != last.Zxid || stat.EphemeralOwner != l.SessionID() {
			t.Errorf("token %v of session %x, but the node has czxid %x and owner %x", last, l.SessionID(), stat.Czxid, stat.EphemeralOwner)
		}
		release(t, l)
		if i == 3 {
			// zk-ruby #34: the sequence restarts with a new parent; tokens do not.
			if err := conn.Delete(path, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTryAcquireFailsAtOnceWhenSomebodyIsAhead(t *testing.T) {
	path := uniquePath(t)
	a, b := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	l, err := recipes.NewMutex(a, path).TryAcquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := recipes.NewMutex(b, path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Errorf("got %v, want ErrNotAcquired", err)
		}
		if left := contenders(t, conn, path); len(left) != 1 {
			t.Errorf("kazoo #732: a failed try left its node: %v", left)
		}
	}
	release(t, l)
	l, err = recipes.NewMutex(b, path).TryAcquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	release(t, l)
}

func TestKazoo291AnInnerReleaseFreesNothing(t *testing.T) {
	path := uniquePath(t)
	a, b := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	outer := acquire(t, within(t), recipes.NewMutex(a, path))
	// Another instance on the same path, the owner in the context.
	inner := acquire(t, outer.Context(), recipes.NewMutex(a, path))
	if inner.Depth() != 2 || inner.Token() != outer.Token() {
		t.Errorf("depth %d, token %v, want 2 and %v", inner.Depth(), inner.Token(), outer.Token())
	}
	release(t, inner)
	if err := inner.Context().Err(); err == nil {
		t.Error("the released lease's context is alive")
	}
	if !outer.Valid() || outer.Context().Err() != nil {
		t.Error("the outer lease ended with the inner one")
	}
	if _, err := recipes.NewMutex(b, path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("another client got the lock: %v", err)
	}
	release(t, outer)
	if _, err := recipes.NewMutex(a, path).Acquire(outer.Context()); !errors.Is(err, recipes.ErrNotHeld) {
		t.Errorf("acquiring with a released lease's context: %v, want ErrNotHeld", err)
	}
	release(t, acquire(t, within(t), recipes.NewMutex(b, path)))
}

func TestAnExplicitOwnerReentersFromAnyGoroutineAtAnyTime(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	m := recipes.NewMutex(c, path)
	// All acquire at once: the second must not queue behind the first.
	ctx := recipes.WithOwner(within(t), "worker")
	var wg sync.WaitGroup
	leases := make([]*recipes.Lease, 8)
	for i := range leases {
		wg.Go(func() {
			l, err := m.Acquire(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			leases[i] = l
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	if _, err := m.TryAcquire(recipes.WithOwner(within(t), "other")); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("another owner got the lock: %v", err)
	}
	for _, l := range leases {
		if !l.Valid() {
			t.Error("not valid before its release")
		}
		release(t, l)
	}
	release(t, acquire(t, recipes.WithOwner(within(t), "other"), m))
}

func TestALeasesContextOutlivesTheAcquiresDeadline(t *testing.T) {
	// vitess #11794
	path := uniquePath(t)
	type key struct{}
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), 5*time.Second)
	l := acquire(t, ctx, recipes.NewMutex(connect(t, addrsOf(t)), path))
	cancel()
	if err := l.Context().Err(); err != nil {
		t.Errorf("the lease ended with the wait for it: %v", err)
	}
	if l.Context().Value(key{}) != "value" {
		t.Error("the values are gone")
	}
	release(t, l)
	if cause := context.Cause(l.Context()); !errors.Is(cause, recipes.ErrNotHeld) {
		t.Errorf("cause %v after the release, want ErrNotHeld", cause)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Errorf("the second release: %v", err)
	}
	if l.State() != recipes.Released || l.Valid() {
		t.Errorf("state %v after the release", l.State())
	}
}

func TestDoReleasesWhateverHappens(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	m := recipes.NewMutex(c, path)
	conn := admin(t)
	boom := errors.New("boom")
	if err := m.Do(within(t), func(ctx context.Context, l *recipes.Lease) error {
		inner, err := m.Acquire(ctx) // the context carries the owner
		if err != nil {
			return err
		}
		return errors.Join(boom, inner.Release(ctx))
	}); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { recover() }()
		m.Do(within(t), func(context.Context, *recipes.Lease) error { panic("boom") })
	}()
	ctx, cancel := context.WithCancel(within(t))
	if err := m.Do(ctx, func(ctx context.Context, l *recipes.Lease) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "nothing is left in the queue", func() bool { return len(contenders(t, conn, path)) == 0 })
}

func TestCurator43ForeignChildrenBlockNobody(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	conn := admin(t)
	first := acquire(t, within(t), recipes.NewMutex(c, path))
	for _, name := range []string{"readme", "_c_short", "lock-", "lock-x"} {
		if _, err := conn.Create(path+"/"+name, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	release(t, first)
	release(t, acquire(t, within(t), recipes.NewMutex(c, path)))
}

func TestCurator173ParentsAreContainersAndCurator180TheirReapingHurtsNobody(t *testing.T) {
	needReal(t, "when ZooKeeper removes containers")
	reaped(t)
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	conn := admin(t)
	m := recipes.NewMutex(c, path)
	parent := path[:strings.LastIndexByte(path, '/')]
	release(t, acquire(t, within(t), m))
	eventually(t, "the servers reap the empty parents", func() bool {
		_, _, err := conn.Get(parent)
		return errors.Is(err, zk.ErrNoNode)
	})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				conn.Delete(path, -1) // as the server's reaper does
				conn.Delete(parent, -1)
			}
		}
	})
	for range 100 {
		release(t, acquire(t, within(t), m))
	}
	close(stop)
	wg.Wait()
}

// participants waits until n contenders are listed: the server of the mutex's client may hear of
// other contenders a little later.
func participants(t *testing.T, m *recipes.Mutex, n int) (all []recipes.Participant) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d participants are listed", n), func() bool {
		var err error
		if all, err = m.Participants(within(t)); err != nil {
			t.Fatal(err)
		}
		return len(all) == n
	})
	return all
}

func TestParticipantsAreListedInTheOrderOfTheirTurns(t *testing.T) {
	path := uniquePath(t)
	a, b := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	m := recipes.NewMutex(a, path, recipes.WithData([]byte("a")))
	if all, err := m.Participants(within(t)); err != nil || len(all) != 0 {
		t.Errorf("before the first acquire: %v, %v", all, err)
	}
	l := acquire(t, within(t), m)
	ctx, cancel := context.WithCancel(within(t))
	waiting := acquiring(ctx, recipes.NewMutex(b, path, recipes.WithData([]byte("b"))))
	all := participants(t, m, 2)
	if all[0].Node != l.Node() || string(all[0].Data) != "a" || string(all[1].Data) != "b" ||
		all[0].Token != l.Token() || all[0].Session != l.SessionID() || time.Since(all[1].Since).Abs() > time.Minute {
		t.Errorf("got %+v", all)
	}
	name := all[0].Node[strings.LastIndexByte(all[0].Node, '/')+1:]
	if !regexp.MustCompile(`^_c_[0-9a-f-]{36}-lock-\d{10}$`).MatchString(name) {
		t.Errorf("%q is not what Curator would call it", name)
	}
	cancel()
	if r := <-waiting; !errors.Is(r.err, context.Canceled) {
		t.Errorf("vitess #8309: a cancelled acquire returned %v", r.err)
	}
	release(t, l)
	eventually(t, "nothing is left in the queue", func() bool { return len(contenders(t, conn, path)) == 0 })
}

func TestNodesCarryTheClientsAccessControlList(t *testing.T) {
	path := uniquePath(t)
	owner := connect(t, addrsOf(t), recipes.WithAuth("digest", []byte("user:password")), recipes.WithACL(zk.AuthACL(zk.PermAll)...))
	l := acquire(t, within(t), recipes.NewMutex(owner, path))
	conn := admin(t)
	if _, _, err := conn.Get(l.Node()); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("a stranger reads the lock node: %v", err)
	}
	if _, err := recipes.NewMutex(connect(t, addrsOf(t)), path).Acquire(within(t)); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("a stranger acquires: %v", err)
	}
	release(t, l)
}

func TestBadPathsAndClosedClientsAreRefused(t *testing.T) {
	c := connect(t, addrsOf(t))
	for _, path := range []string{"", "/", "relative", "/a/", "/a//b"} {
		m := recipes.NewMutex(c, path)
		if _, err := m.Acquire(t.Context()); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("Acquire of %q: %v", path, err)
		}
		if _, err := m.Participants(t.Context()); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("Participants of %q: %v", path, err)
		}
	}
	m := recipes.NewMutex(c, uniquePath(t))
	held := acquire(t, within(t), m)
	waiting := acquiring(within(t), m)
	if err := c.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	if r := <-waiting; !errors.Is(r.err, recipes.ErrClosed) {
		t.Errorf("an acquire in a closed client: %v", r.err)
	}
	if _, err := m.Acquire(t.Context()); !errors.Is(err, recipes.ErrClosed) {
		t.Errorf("Acquire on a closed client: %v", err)
	}
	select {
	case <-held.Lost():
	default:
		t.Error("the lease of a closed client is not lost")
	}
	if err := held.Release(t.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("release: %v", err)
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	leavesNoGoroutine(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := recipes.Connect(ctx, []string{"127.0.0.1:1"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func ExampleMutex_Do() {
	ctx := context.Background()
	client, err := recipes.Connect(ctx, addrs()) // host:port of each server
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	orders := recipes.NewMutex(client, "/locks/orders")
	err = orders.Do(ctx, func(ctx context.Context, lease *recipes.Lease) error {
		// ctx ends when the lease is lost; send lease.Token() with every write.
		fmt.Println("held:", lease.Valid())
		return nil
	})
	fmt.Println(err)
	// Output:
	// held: true
	// <nil>
}
