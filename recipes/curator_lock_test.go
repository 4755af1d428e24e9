package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// The scenarios of Curator's own tests of its locks, each with an oracle: it records the holders
// that believe to have the lock, and fails if there are two at a time.
//
//	TestInterProcessMutexBase      testWaitingProcessKilledServer, testKilledSession,
//	                               testContainerCleanup, testWithNamespace, testReentrantSingleLock,
//	                               testReentrant2Threads, testReentrant, test2Clients
//	TestInterProcessMutex          testRevoking
//	TestInterProcessSemaphoreMutex the base's, without the reentrant ones
//	TestInterProcessMultiMutex     the base's, testSomeReleasesFail, testSomeLocksFailToLock
//	                               (curator_multi_lock_test.go)
//	TestLockCleanlinessWithFaults  testNodeDeleted, and the like (curator_cleanliness_test.go)
//	TestLockACLs                   (curator_cleanliness_test.go)
//	TestSharedCount                (curator_count_test.go)
//
// Not taken: TestInterProcessMutex.testPersistentLock. No lock of this package
// outlives its session.

// heldLock has the methods that the leases of all locks share.
type heldLock interface {
	Context() context.Context
	Token() recipes.Token
	Lost() <-chan struct{}
	Valid() bool
	Release(context.Context) error
}

// curatorLock is one lock value of some kind.
type curatorLock struct {
	acquire func(context.Context) (heldLock, error)
	try     func(context.Context) (heldLock, error)
	held    func() bool
}

// curatorKind is a kind of lock.
type curatorKind struct {
	name      string
	reentrant bool
	make      func(c *recipes.Client, path string) curatorLock
	queues    func(path string) []string // the directories that its nodes are in
}

func holding[L heldLock](acquire func(context.Context) (L, error)) func(context.Context) (heldLock, error) {
	return func(ctx context.Context) (heldLock, error) {
		l, err := acquire(ctx)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

var curatorKinds = []curatorKind{
	{"InterProcessMutex", true, func(c *recipes.Client, path string) curatorLock {
		m := recipes.NewMutex(c, path)
		return curatorLock{holding(m.Acquire), holding(m.TryAcquire), m.Held}
	}, func(path string) []string { return []string{path} }},
	{"InterProcessSemaphoreMutex", false, func(c *recipes.Client, path string) curatorLock {
		m := recipes.NewNonReentrantMutex(c, path)
		return curatorLock{holding(m.Acquire), holding(m.TryAcquire), m.Held}
	}, func(path string) []string { return []string{path + "/locks", path + "/leases"} }},
	{"InterProcessMultiLock", true, func(c *recipes.Client, path string) curatorLock {
		a, b := recipes.NewMutex(c, path+"/our-lock-1"), recipes.NewMutex(c, path+"/our-lock-2")
		m := recipes.NewMultiLock(a, b)
		return curatorLock{holding(m.Acquire), holding(m.TryAcquire), func() bool {
			if a.Held() != b.Held() {
				return false // only in between
			}
			return a.Held()
		}}
	}, func(path string) []string { return []string{path + "/our-lock-1", path + "/our-lock-2"} }},
}

// onCuratorKinds runs a scenario with each kind.
func onCuratorKinds(t *testing.T, scenario func(t *testing.T, kind curatorKind, path string)) {
	for _, kind := range curatorKinds {
		t.Run(kind.name, func(t *testing.T) { scenario(t, kind, uniquePath(t)) })
	}
}

// free checks that no node of the lock is left.
func (k curatorKind) free(t *testing.T, path string) {
	t.Helper()
	conn := admin(t)
	eventually(t, "no node is left", func() bool {
		for _, dir := range k.queues(path) {
			if len(contenders(t, conn, dir)) > 0 {
				return false
			}
		}
		return true
	})
}

// queued returns the number of contenders, holders included.
func (k curatorKind) queued(t *testing.T, path string) int {
	t.Helper()
	n := 0
	for _, dir := range k.queues(path) {
		n = max(n, len(contenders(t, admin(t), dir)))
	}
	if len(k.queues(path)) == 2 && k.name == "InterProcessSemaphoreMutex" {
		n = len(contenders(t, admin(t), path+"/locks")) + len(contenders(t, admin(t), path+"/leases"))
	}
	return n
}

// believers is the oracle: a client that acquired the lock believes to hold it until it calls
// Release or its lease is lost.
type believers struct {
	mu    sync.Mutex
	now   map[heldLock]bool
	last  recipes.Token
	wrong []string
}

func (b *believers) got(l heldLock) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil {
		b.now = make(map[heldLock]bool)
	}
	for other := range b.now {
		if other.Valid() {
			b.wrong = append(b.wrong, fmt.Sprintf("two holders: %v and %v", other.Token(), l.Token()))
		}
	}
	if l.Token().Compare(b.last) <= 0 {
		b.wrong = append(b.wrong, fmt.Sprintf("token %v after %v", l.Token(), b.last))
	}
	b.last = l.Token()
	b.now[l] = true
}

func (b *believers) releases(l heldLock) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.now, l)
}

func (b *believers) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		t.Error(w)
	}
}

type heldResult struct {
	lease heldLock
	err   error
}

// holds runs an acquire and reports its success to the oracle.
func (b *believers) holds(ctx context.Context, l curatorLock) <-chan heldResult {
	done := make(chan heldResult, 1)
	go func() {
		lease, err := l.acquire(ctx)
		if err == nil {
			b.got(lease)
		}
		done <- heldResult{lease, err}
	}()
	return done
}

func leased(t *testing.T, done <-chan heldResult) heldLock {
	t.Helper()
	select {
	case r := <-done:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.lease
	case <-time.After(patient):
		t.Fatal("the acquire does not return")
		return nil
	}
}

func stillWaits(t *testing.T, done <-chan heldResult) {
	t.Helper()
	select {
	case r := <-done:
		t.Fatalf("it has returned: %v, %v", r.lease, r.err)
	default:
	}
}

func givesBack(t *testing.T, b *believers, l heldLock) {
	t.Helper()
	b.releases(l)
	if err := l.Release(within(t)); err != nil {
		t.Error(err)
	}
}

func TestCuratorLockKilledSession(t *testing.T) {
	onCuratorKinds(t, func(t *testing.T, kind curatorKind, path string) {
		var wire intercept
		c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
		var oracle believers
		first := leased(t, oracle.holds(within(t), kind.make(c, path)))
		waiting := oracle.holds(within(t), kind.make(c, path))
		eventually(t, "the second waits", func() bool { return kind.queued(t, path) == 2 })
		expire(t, &wire)
		select {
		case <-first.Lost():
		case <-time.After(patient):
			t.Fatal("the first is not told that it has lost the lock")
		}
		second := leased(t, waiting)
		if err := first.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("release of the first: %v", err)
		}
		if !second.Valid() {
			t.Error("the second's lease is not valid")
		}
		givesBack(t, &oracle, second)
		oracle.check(t)
		kind.free(t, path)
	})
}

func TestCuratorLockContainerCleanup(t *testing.T) {
	reaped(t)
	onCuratorKinds(t, func(t *testing.T, kind curatorKind, path string) {
		conn := admin(t)
		c := connect(t, addrsOf(t))
		var oracle believers
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				lease, err := kind.make(c, path).acquire(within(t))
				if err != nil {
					t.Error(err)
					return
				}
				oracle.got(lease)
				oracle.releases(lease)
				if err := lease.Release(within(t)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		oracle.check(t)
		eventually(t, "the servers have removed the lock's directories", func() bool { return !exists(t, conn, path) })
	})
}

func TestCuratorLockWithNamespace(t *testing.T) {
	onCuratorKinds(t, func(t *testing.T, kind curatorKind, path string) {
		c, plain := connect(t, addrsOf(t), recipes.WithNamespace("/test")), connect(t, addrsOf(t))
		var oracle believers
		lease := leased(t, oracle.holds(within(t), kind.make(c, path)))
		if _, err := kind.make(plain, "/test"+path).try(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Errorf("by its whole path: %v", err)
		}
		other, err := kind.make(plain, path).try(within(t))
		if err != nil {
			t.Errorf("the same name outside: %v", err)
		} else if err := other.Release(within(t)); err != nil {
			t.Error(err)
		}
		givesBack(t, &oracle, lease)
		kind.free(t, "/test"+path)
		kind.free(t, path)
	})
}

func TestCuratorLockReentrantSingleLock(t *testing.T) {
	// Ten goroutines use one value. They share no owner or context, so none re-enters.
	onCuratorKinds(t, func(t *testing.T, kind curatorKind, path string) {
		lock := kind.make(connect(t, addrsOf(t)), path)
		var oracle believers
		first := leased(t, oracle.holds(within(t), lock))
		var waiting []<-chan heldResult
		for range 9 {
			waiting = append(waiting, oracle.holds(within(t), lock))
		}
		eventually(t, "nine wait", func() bool { return kind.queued(t, path) == 10 })
		for _, w := range waiting {
			stillWaits(t, w)
		}
		through := make(chan heldResult, len(waiting))
		for _, w := range waiting {
			go func() { through <- <-w }()
		}
		givesBack(t, &oracle, first)
		for range waiting { // one by one
			givesBack(t, &oracle, leased(t, through))
		}
		oracle.check(t)
		if lock.held() {
			t.Error("held after the last release")
		}
		kind.free(t, path)
	})
}

func TestCuratorLock2Clients(t *testing.T) {
	onCuratorKinds(t, func(t *testing.T, kind curatorKind, path string) {
		locks := []curatorLock{kind.make(connect(t, addrsOf(t)), path), kind.make(connect(t, addrsOf(t)), path)}
		var oracle believers
		waiting := []<-chan heldResult{oracle.holds(within(t), locks[0]), oracle.holds(within(t), locks[1])}
		var lease heldLock
		winner := 0
		select {
		case r := <-waiting[0]:
			lease = r.lease
		case r := <-waiting[1]:
			lease, winner = r.lease, 1
		case <-time.After(patient):
			t.Fatal("no client gets the lock")
		}
		loser := 1 - winner
		eventually(t, "the other waits", func() bool { return kind.queued(t, path) == 2 })
		if !locks[winner].held() || locks[loser].held() {
			t.Errorf("held: %v, %v", locks[winner].held(), locks[loser].held())
		}
		stillWaits(t, waiting[loser])
		givesBack(t, &oracle, lease)
		lease = leased(t, waiting[loser])
		if locks[winner].held() || !locks[loser].held() {
			t.Errorf("held: %v, %v", locks[winner].held(), locks[loser].held())
		}
		givesBack(t, &oracle, lease)
		oracle.check(t)
		kind.free(t, path)
	})
}
