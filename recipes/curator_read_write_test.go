package recipes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// The scenarios of Curator's own tests of its read-write locks:
//
//	TestInterProcessReadWriteLock      testGetParticipantNodes, testThatUpgradingIsDisallowed,
//	                                   testThatDowngradingRespectsThreads, testDowngrading,
//	                                   testContendingDowngrading, testBasic, testSetNodeData, testLockPath
//	TestInterProcessReadWriteLockBase  testOrdering, testWriterAgainstConstantReaders, testBasic
//
// Those of upgrades and downgrades are in curator_downgrade_test.go.

func TestCuratorReadWriteGetParticipantNodes(t *testing.T) {
	const readers, writers = 20, 8
	path := uniquePath(t)
	conn := admin(t)
	c := connect(t, addrsOf(t))
	rw := recipes.NewReadWriteMutex(c, path)
	var reading []*recipes.Lease
	for range readers {
		reading = append(reading, acquire(t, within(t), rw.Read()))
	}
	var writing []<-chan result
	for range writers {
		writing = append(writing, acquiring(within(t), rw.Write()))
	}
	eventually(t, "the writers queue", func() bool { return len(contenders(t, conn, path)) == readers+writers })
	for _, side := range []*recipes.Mutex{rw.Read(), rw.Write()} {
		all := participants(t, side, readers+writers)
		kinds := map[string]int{}
		for i, p := range all {
			kinds[p.Kind]++
			if p.Session != c.SessionID() {
				t.Errorf("participant %d is of session %x", i, p.Session)
			}
			if i < readers && p.Node != reading[i].Node() {
				t.Errorf("participant %d is %s, the lease's is %s", i, p.Node, reading[i].Node())
			}
		}
		if kinds["__READ__"] != readers || kinds["__WRIT__"] != writers {
			t.Errorf("participants: %v", kinds)
		}
	}
	for _, l := range reading {
		release(t, l)
	}
	through := make(chan result, writers)
	for _, w := range writing {
		go func() { through <- <-w }()
	}
	for range writing {
		release(t, (<-through).ok(t))
	}
	eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
}

// library is the oracle of a read-write lock.
type library struct {
	mu                       sync.Mutex
	readers, writers, most   int
	readersEver, writersEver int
	wrong                    []string
}

func (l *library) change(readers, writers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers, l.writers = l.readers+readers, l.writers+writers
	l.most = max(l.most, l.readers)
	l.readersEver, l.writersEver = l.readersEver+max(readers, 0), l.writersEver+max(writers, 0)
	if l.writers > 1 || l.writers == 1 && l.readers > 0 {
		l.wrong = append(l.wrong, fmt.Sprintf("%d writers beside %d readers", l.writers, l.readers))
	}
}

func TestCuratorReadWriteBasic(t *testing.T) {
	const concurrency, iterations = 8, 40
	path := uniquePath(t)
	conn := admin(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var lib library
	var all sync.WaitGroup
	for i := range concurrency {
		c := connect(t, addrsOf(t))
		all.Go(func() {
			draw := rand.New(rand.NewPCG(seed, uint64(i)))
			rw := recipes.NewReadWriteMutex(c, path)
			for range iterations {
				side, r, w := rw.Read(), 1, 0
				if draw.IntN(100) < 10 {
					side, r, w = rw.Write(), 0, 1
				}
				err := side.Do(t.Context(), func(context.Context, *recipes.Lease) error {
					lib.change(r, w)
					time.Sleep(time.Duration(draw.IntN(4)) * time.Millisecond)
					lib.change(-r, -w)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, w := range lib.wrong {
		t.Error(w)
	}
	if lib.readersEver == 0 || lib.writersEver == 0 || lib.most < 2 || lib.readersEver+lib.writersEver != concurrency*iterations {
		t.Errorf("%d readers, %d writers, at most %d readers at once", lib.readersEver, lib.writersEver, lib.most)
	}
	eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
}

func TestCuratorReadWriteSetNodeData(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	data := []byte{1, 2, 3, 4}
	rw := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path, recipes.WithData(data))
	data[0] = 5 // the lock has its own copy
	w := acquire(t, within(t), rw.Write())
	r := acquire(t, w.Context(), rw.Read()) // the downgraded node is created in another way
	for _, l := range []*recipes.Lease{w, r} {
		got, _, err := conn.Get(l.Node())
		if err != nil || !bytes.Equal(got, []byte{1, 2, 3, 4}) {
			t.Errorf("%s: %v, %v", l.Node(), got, err)
		}
	}
	if n := contenders(t, conn, path); len(n) != 2 {
		t.Errorf("nodes: %v", n)
	}
	release(t, r)
	release(t, w)
}

func TestCuratorReadWriteLockPath(t *testing.T) {
	// The writer's session is killed. The reader of another client gets in, and
	// the writer's node, which its lease names, is gone.
	path := uniquePath(t)
	conn := admin(t)
	var wire intercept
	rw, other := recipes.NewReadWriteMutex(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path), recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
	w := acquire(t, within(t), rw.Write())
	reading := acquiring(within(t), other.Read())
	eventually(t, "the reader queues", func() bool { return len(contenders(t, conn, path)) == 2 })
	expire(t, &wire)
	r := (<-reading).ok(t)
	if ok, _, err := conn.Exists(w.Node()); ok || err != nil {
		t.Errorf("the writer's node is there: %v, %v", ok, err)
	}
	<-w.Lost()
	if err := w.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("release of the writer: %v", err)
	}
	if !r.Valid() {
		t.Error("the reader's lease is not valid")
	}
	release(t, r)
}

func TestCuratorReadWriteOrdering(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var mu sync.Mutex
	var inside []int
	leave := map[int]chan struct{}{}
	done := map[int]chan error{}
	comes := func(i int, write bool) {
		c := connect(t, addrsOf(t))
		before := len(contenders(t, conn, path))
		side := recipes.NewReadWriteMutex(c, path).Read()
		if write {
			side = recipes.NewReadWriteMutex(c, path).Write()
		}
		out, over := make(chan struct{}), make(chan error, 1)
		leave[i], done[i] = out, over
		go func() {
			over <- side.Do(t.Context(), func(context.Context, *recipes.Lease) error {
				mu.Lock()
				inside = append(inside, i)
				mu.Unlock()
				<-out
				mu.Lock()
				defer mu.Unlock()
				inside = slices.DeleteFunc(inside, func(other int) bool { return other == i })
				return nil
			})
		}()
		eventually(t, fmt.Sprintf("%d is in the queue", i), func() bool { return len(contenders(t, conn, path)) == before+1 })
	}
	now := func() []int {
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(slices.Values(inside))
	}
	are := func(want ...int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%v are inside", want), func() bool { return slices.Equal(now(), want) })
	}
	goes := func(all ...int) {
		t.Helper()
		for _, i := range all {
			close(leave[i])
			if err := returns(t, done[i]); err != nil {
				t.Error(err)
			}
		}
	}
	for i := 1; i <= 3; i++ {
		comes(i, false)
	}
	are(1, 2, 3)
	comes(4, true)
	are(1, 2, 3)
	goes(1, 2)
	are(3)
	goes(3)
	are(4)
	comes(5, false)
	comes(6, false)
	comes(7, true)
	comes(8, false)
	are(4)
	goes(4)
	are(5, 6)
	goes(5)
	are(6)
	goes(6)
	are(7)
	goes(7)
	are(8)
	goes(8)
}

func TestCuratorReadWriteWriterAgainstConstantReaders(t *testing.T) {
	const readers, attempts = 8, 10
	path := uniquePath(t)
	ctx, stop := context.WithCancel(within(t))
	defer stop()
	var lib library
	var all sync.WaitGroup
	for range readers {
		rw := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
		all.Go(func() {
			for ctx.Err() == nil {
				err := rw.Read().Do(ctx, func(context.Context, *recipes.Lease) error {
					lib.change(1, 0)
					time.Sleep(5 * time.Millisecond)
					lib.change(-1, 0)
					return nil
				})
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	rw := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
	for range attempts {
		w := acquire(t, within(t), rw.Write())
		lib.change(0, 1)
		lib.change(0, -1)
		release(t, w)
	}
	stop()
	all.Wait()
	for _, w := range lib.wrong {
		t.Error(w)
	}
	if lib.writersEver != attempts || lib.readersEver < readers {
		t.Errorf("%d writers, %d readers", lib.writersEver, lib.readersEver)
	}
}
