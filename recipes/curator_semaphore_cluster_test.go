package recipes_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// crowd keeps clients busy with a semaphore until it is stopped. Each holds its permit until it
// is told to release it, or loses it.
type crowd struct {
	oracle *permitsOut
	passes atomic.Int64
	goOn   chan struct{}
	stop   context.CancelFunc
	all    sync.WaitGroup
	ctx    context.Context
}

func newCrowd(t *testing.T, size int) *crowd {
	c := &crowd{oracle: &permitsOut{size: size}, goOn: make(chan struct{})}
	c.ctx, c.stop = context.WithCancel(t.Context())
	t.Cleanup(func() { c.stop(); c.all.Wait() })
	return c
}

func (c *crowd) join(t *testing.T, s *recipes.Semaphore) {
	c.all.Go(func() {
		for c.ctx.Err() == nil {
			l, err := s.Acquire(c.ctx)
			if err != nil {
				if c.ctx.Err() == nil {
					t.Errorf("acquire: %v", err)
				}
				continue
			}
			c.oracle.got(l)
			c.passes.Add(1)
			select {
			case <-c.goOn:
			case <-l.Lost():
			case <-c.ctx.Done():
			}
			c.oracle.releases(l)
			if err := l.Release(context.Background()); err != nil && !errors.Is(err, recipes.ErrLeaseLost) {
				t.Errorf("release: %v", err)
			}
		}
	})
}

// holders counts the valid leases.
func (c *crowd) holders() int {
	c.oracle.mu.Lock()
	defer c.oracle.mu.Unlock()
	n := 0
	for l := range c.oracle.held {
		if l.Valid() {
			n++
		}
	}
	return n
}

// turns lets n holders go, one after the other.
func (c *crowd) turns(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case c.goOn <- struct{}{}:
		case <-time.After(patient):
			t.Fatal("no client holds a permit")
		}
	}
}

// TestCuratorSemaphoreAcquireAfterLostServer: CURATOR-335, also
// TestInterProcessMutexNotReconnecting. Ten acquirers of one client lose all
// servers in the middle of their acquires, and continue when the servers are back.
func TestCuratorSemaphoreAcquireAfterLostServer(t *testing.T) {
	ensembletest.EveryNight(t) // TestCuratorBarrierServerCrash kills real servers at each change
	needReal(t, "servers that are killed come back with what is on their disks")
	path := uniquePath(t)
	lost, back := make(chan struct{}, 10), make(chan struct{}, 10)
	c := connect(t, addrsOf(t), recipes.WithConnectionListener(func(s recipes.ConnectionState) {
		switch s {
		case recipes.ConnLost:
			lost <- struct{}{}
		case recipes.ConnReconnected:
			back <- struct{}{}
		}
	}))
	all := newCrowd(t, 1)
	for range 10 {
		all.join(t, recipes.NewSemaphore(c, path, 1))
	}
	all.turns(t, 5)
	eventually(t, "one holds it and all others wait", func() bool {
		return all.holders() == 1 && len(contenders(t, admin(t), path+"/locks")) == 9
	})
	killEnsemble(t)
	select {
	case <-lost:
	case <-time.After(patient):
		t.Fatal("the listener is not told of the loss")
	}
	eventually(t, "no client holds it", func() bool { return all.holders() == 0 })
	before := all.passes.Load()
	startEnsemble(t)
	select {
	case <-back:
	case <-time.After(patient):
		t.Fatal("the client does not come back")
	}
	all.turns(t, 20) // each acquirer has had its turn again
	if n := all.passes.Load() - before; n < 20 {
		t.Errorf("%d passes after the restart", n)
	}
	all.stop()
	all.all.Wait()
	all.oracle.check(t, path)
}

// TestCuratorSemaphoreCluster is TestInterProcessSemaphoreCluster: clients of
// their own; all servers die, and then a majority comes back.
func TestCuratorSemaphoreCluster(t *testing.T) {
	apart(t)
	const clients = 10
	path := uniquePath(t)
	all := newCrowd(t, 1)
	for range clients {
		all.join(t, recipes.NewSemaphore(connect(t, addrsOf(t)), path, 1))
	}
	all.turns(t, 3)
	eventually(t, "one holds it", func() bool { return all.holders() == 1 })
	killEnsemble(t)
	eventually(t, "no client holds it", func() bool { return all.holders() == 0 })
	before := all.passes.Load()

	var up sync.WaitGroup
	for _, id := range []int{1, 2} {
		up.Go(func() {
			if err := serversOf(t).Restart(within(t), id); err != nil {
				t.Error(err)
			}
		})
	}
	up.Wait()
	eventually(t, "one holds it again", func() bool { return all.holders() == 1 })
	all.turns(t, clients)
	if n := all.passes.Load() - before; n < clients {
		t.Errorf("%d passes after the restart", n)
	}
	startEnsemble(t)
	all.turns(t, clients)
	all.stop()
	all.all.Wait()
	all.oracle.check(t, path)
}
