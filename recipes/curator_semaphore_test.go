package recipes_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// The scenarios of Curator's own tests of its semaphore, with an oracle that
// counts the permits of all leases that are valid:
//
//	TestInterProcessSemaphore             testAcquireAfterLostServer, testThreadedLeaseIncrease,
//	                                      testClientClose, testMaxPerSession, testRelease1AtATime,
//	                                      testReleaseInChunks, testThreads, testSimple, testSimple2,
//	                                      testGetParticipantNodes, testChildReaperCleansUpLockNodes,
//	                                      testNoOrphanedNodes
//	TestInterProcessSemaphoreCluster      testKilledServerWithEnsembleProvider, testCluster
//	TestInterProcessMutexNotReconnecting  test
//
// Those with servers that die are in curator_semaphore_cluster_test.go.

func TestCuratorSemaphoreSimple(t *testing.T) {
	path := uniquePath(t)
	s := recipes.NewSemaphore(connect(t, addrsOf(t)), path, 1)
	p := &permitsOut{size: 1}
	l := takes(t, p, s)
	cannotTake(t, s)
	gives(t, p, l)
	p.check(t, path)
}

func TestCuratorSemaphoreSimple2(t *testing.T) {
	const size = 3
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	p := &permitsOut{size: size}
	var leases []*recipes.Lease
	for range size {
		leases = append(leases, takes(t, p, recipes.NewSemaphore(c, path, size)))
	}
	s := recipes.NewSemaphore(c, path, size)
	cannotTake(t, s)
	gives(t, p, leases[0])
	leases[0] = takes(t, p, s)
	cannotTake(t, s)
	for _, l := range leases {
		gives(t, p, l)
	}
	p.check(t, path)
}

func TestCuratorSemaphoreGetParticipantNodes(t *testing.T) {
	const size = 3
	path := uniquePath(t)
	s := recipes.NewSemaphore(connect(t, addrsOf(t)), path, size)
	p := &permitsOut{size: size}
	nodes := map[string]bool{}
	var leases []*recipes.Lease
	for range size {
		l := takes(t, p, s)
		leases = append(leases, l)
		nodes[l.Node()] = true
	}
	all, err := s.Participants(within(t))
	if err != nil || len(all) != size {
		t.Fatalf("participants: %v, %v", all, err)
	}
	for _, one := range all {
		if !nodes[one.Node] || one.Kind != "lease-" {
			t.Errorf("participant %+v", one)
		}
		delete(nodes, one.Node)
	}
	for _, l := range leases {
		gives(t, p, l)
	}
	p.check(t, path)
}

func TestCuratorSemaphoreThreads(t *testing.T) {
	path := uniquePath(t)
	s := recipes.NewSemaphore(connect(t, addrsOf(t)), path, 1) // one value for all
	p := &permitsOut{size: 1}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			err := s.Do(t.Context(), func(_ context.Context, l *recipes.Lease) error {
				p.got(l)
				time.Sleep(time.Millisecond)
				p.releases(l)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p.ever != 10 || p.most != 1 {
		t.Errorf("%d had it, at most %d at once", p.ever, p.most)
	}
	p.check(t, path)
}

func TestCuratorSemaphoreThreadedLeaseIncrease(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second))
	count := recipes.NewSharedCount(c, path+"-count", 1)
	s := recipes.NewSharedSemaphore(c, path, count)
	p := &permitsOut{size: 1}
	first := takes(t, p, s)
	second := make(chan result, 1)
	go func() {
		l, err := s.Acquire(t.Context())
		second <- result{l, err}
	}()
	eventually(t, "the second waits", func() bool { return len(contenders(t, admin(t), path+"/locks")) == 1 })
	select {
	case r := <-second:
		t.Fatalf("two permits of one: %v, %v", r.lease, r.err)
	default:
	}
	p.mu.Lock()
	p.size = 2
	p.mu.Unlock()
	start := time.Now()
	if err := count.Set(within(t), 2); err != nil {
		t.Fatal(err)
	}
	l := (<-second).ok(t)
	p.got(l)
	if waited := time.Since(start); waited > 15*time.Second {
		t.Errorf("found out by the slow poll after %v", waited)
	}
	cannotTake(t, s)
	gives(t, p, first)
	gives(t, p, l)
	p.check(t, path)
}

func TestCuratorSemaphoreClientClose(t *testing.T) {
	path := uniquePath(t)
	c1, c2 := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second)), connect(t, addrsOf(t))
	s1, s2 := recipes.NewSemaphore(c1, path, 1), recipes.NewSemaphore(c2, path, 1)
	p := &permitsOut{size: 1}
	gives(t, p, takes(t, p, s2))
	l := takes(t, p, s1)
	cannotTake(t, s2)
	start := time.Now()
	p.releases(l)
	does(t, c1.Close)
	select {
	case <-l.Lost():
	default:
		t.Error("the lease of a closed client is not lost")
	}
	gives(t, p, takes(t, p, s2))
	if waited := time.Since(start); waited > 15*time.Second {
		t.Errorf("free only after %v: with the session's expiry", waited)
	}
	if err := l.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("release: %v", err)
	}
	p.check(t, path)
}

func TestCuratorSemaphoreMaxPerSession(t *testing.T) {
	// Curator's test itself ensures that clients ask for no more permits than there are: two
	// acquires that wait for each other's permits would hang. Here no acquire hangs.
	const clients, loops = 10, 8
	path := uniquePath(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	size := 25 + rand.New(rand.NewPCG(seed, 0)).IntN(75)
	p := &permitsOut{size: size}
	var all sync.WaitGroup
	for i := range clients {
		c := connect(t, addrsOf(t))
		all.Go(func() {
			draw := rand.New(rand.NewPCG(seed, uint64(i)))
			s := recipes.NewSemaphore(c, path, size)
			for range loops {
				want := 1 + draw.IntN(size)
				l, err := s.AcquireN(within(t), want)
				if err != nil {
					t.Error(err)
					return
				}
				if l.Permits() != want {
					t.Errorf("%d permits, want %d", l.Permits(), want)
				}
				p.got(l)
				time.Sleep(time.Duration(draw.IntN(5)) * time.Millisecond)
				p.releases(l)
				if err := l.Release(within(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if p.ever != clients*loops {
		t.Errorf("%d leases", p.ever)
	}
	p.check(t, path)
}

func TestCuratorSemaphoreRelease1AtATime(t *testing.T) {
	const clients, size = 10, 5
	path := uniquePath(t)
	p := &permitsOut{size: size}
	full := make(chan struct{})
	var once sync.Once
	var all sync.WaitGroup
	for range clients {
		s := recipes.NewSemaphore(connect(t, addrsOf(t)), path, size)
		all.Go(func() {
			l, err := s.Acquire(within(t))
			if err != nil {
				t.Error(err)
				return
			}
			p.got(l)
			p.mu.Lock()
			if p.most == size {
				once.Do(func() { close(full) })
			}
			p.mu.Unlock()
			<-full // so that all permits are held once
			p.releases(l)
			if err := l.Release(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p.ever != clients || p.most != size {
		t.Errorf("%d leases, at most %d at once", p.ever, p.most)
	}
	p.check(t, path)
}

func TestCuratorSemaphoreReleaseInChunks(t *testing.T) {
	const size, threads = 11, 100
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	p := &permitsOut{size: size}
	goOn := make(chan struct{})
	done := make(chan error, threads)
	for range threads {
		go func() {
			l, err := recipes.NewSemaphore(c, path, size).Acquire(t.Context())
			if err != nil {
				done <- err
				return
			}
			p.got(l)
			<-goOn
			p.releases(l)
			done <- l.Release(t.Context())
		}()
	}
	for left := threads; left > 0; {
		chunk := min(1+rand.IntN(5), left)
		eventually(t, "all permits are out, or all that are left", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.held) == min(size, left)
		})
		for range chunk {
			goOn <- struct{}{}
			succeeds(t, done)
		}
		left -= chunk
	}
	if p.ever != threads || p.most != size {
		t.Errorf("%d leases, at most %d at once", p.ever, p.most)
	}
	p.check(t, path)
}

func TestCuratorSemaphoreChildReaperCleansUpLockNodes(t *testing.T) {
	// Curator needs a reaper. Here the servers delete the nodes.
	reaped(t)
	path := uniquePath(t)
	conn := admin(t)
	p := &permitsOut{size: 1}
	s := recipes.NewSemaphore(connect(t, addrsOf(t)), path, 1)
	gives(t, p, takes(t, p, s))
	p.check(t, path)
	eventually(t, "the servers have removed it all", func() bool { return !exists(t, conn, path) })
	gives(t, p, takes(t, p, s))
}

func TestCuratorSemaphoreNoOrphanedNodes(t *testing.T) {
	// Another client deletes the waiter's node. The waiter still gets its permit, and leaves one
	// node, not two.
	path := uniquePath(t)
	conn := admin(t)
	s := recipes.NewSemaphore(connect(t, addrsOf(t)), path, 1)
	p := &permitsOut{size: 1}
	first := takes(t, p, s)
	second := make(chan result, 1)
	go func() {
		l, err := s.Acquire(t.Context())
		second <- result{l, err}
	}()
	eventually(t, "the second waits", func() bool { return len(contenders(t, conn, path+"/locks")) == 1 })
	node := contenders(t, conn, path+"/locks")[0]
	if err := conn.Delete(path+"/locks/"+node, -1); err != nil {
		t.Fatal(err)
	}
	gives(t, p, first)
	l := (<-second).ok(t)
	p.got(l)
	if n := contenders(t, conn, path+"/leases"); len(n) != 1 {
		t.Errorf("permits: %v", n)
	}
	gives(t, p, l)
	p.check(t, path)
	gives(t, p, takes(t, p, s))
}
