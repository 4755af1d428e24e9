package recipes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

func TestReadersShareAndWritersExclude(t *testing.T) {
	path := uniquePath(t)
	a, b := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path), recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
	first, second := acquire(t, within(t), a.Read()), acquire(t, within(t), b.Read())
	other := acquire(t, within(t), a.Read())
	if _, err := b.Write().TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a writer among readers: %v", err)
	}
	writing := acquiring(within(t), b.Write())
	eventually(t, "the writer queues", func() bool { return len(contenders(t, admin(t), path)) == 4 })
	if _, err := a.Read().TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a reader that comes after a writer: %v", err)
	}
	reading := acquiring(within(t), a.Read())
	for _, l := range []*recipes.Lease{first, other, second} {
		select {
		case r := <-writing:
			t.Fatalf("a writer beside a reader: %v", r)
		default:
		}
		release(t, l)
	}
	w := (<-writing).ok(t)
	select {
	case r := <-reading:
		t.Fatalf("a reader beside a writer: %v", r)
	default:
	}
	release(t, w)
	r := (<-reading).ok(t)
	if r.Token().Compare(w.Token()) <= 0 || w.Token().Compare(second.Token()) <= 0 {
		t.Errorf("tokens %v, %v, %v", second.Token(), w.Token(), r.Token())
	}
	release(t, r)
}

// TestCurator621: the former holder of the write lock keeps the read lock, and a writer that
// queued meanwhile stays behind (also CURATOR-276). Curator 5.4 admits the writer.
func TestCurator621ADowngradedReaderKeepsQueuedWritersOut(t *testing.T) {
	for _, sameClient := range []bool{true, false} {
		path := uniquePath(t)
		c := connect(t, addrsOf(t))
		other := c
		if !sameClient {
			other = connect(t, addrsOf(t))
		}
		conn := admin(t)
		rw := recipes.NewReadWriteMutex(c, path)
		w := acquire(t, within(t), rw.Write())
		writing := acquiring(within(t), recipes.NewReadWriteMutex(other, path).Write())
		eventually(t, "the second writer queues", func() bool { return len(contenders(t, conn, path)) == 2 })
		r := acquire(t, w.Context(), rw.Read())
		inner := acquire(t, r.Context(), rw.Read())
		if inner.Depth() != 2 {
			t.Errorf("depth %d", inner.Depth())
		}
		release(t, inner)
		release(t, w)
		eventually(t, "the first writer's node is gone", func() bool { return len(contenders(t, conn, path)) == 2 })
		third := connect(t, addrsOf(t))
		if _, err := recipes.NewReadWriteMutex(third, path).Read().TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Errorf("a reader behind a writer: %v", err)
		}
		select {
		case got := <-writing:
			t.Fatalf("a writer beside a downgraded reader: %v", got)
		case <-time.After(300 * time.Millisecond): // longer than a wrong grant would take
		}
		if !r.Valid() {
			t.Error("the reader has lost its lease")
		}
		release(t, r)
		next := (<-writing).ok(t)
		// A fence that has seen the reader's token must not refuse the next writer, whose node is
		// older than the reader's.
		if w.Token().Compare(r.Token()) >= 0 || r.Token().Compare(next.Token()) >= 0 {
			t.Errorf("tokens: writer %v, the same as a reader %v, the next writer %v", w.Token(), r.Token(), next.Token())
		}
		release(t, next)
	}
}

func TestAnUpgradeIsRefusedAtOnce(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	rw := recipes.NewReadWriteMutex(c, path)
	r := acquire(t, within(t), rw.Read())
	if _, err := rw.Write().Acquire(r.Context()); !errors.Is(err, recipes.ErrUpgrade) {
		t.Errorf("got %v", err)
	}
	if n := len(contenders(t, admin(t), path)); n != 1 {
		t.Errorf("%d nodes", n)
	}
	release(t, r)
	w := acquire(t, within(t), rw.Write())
	again := acquire(t, w.Context(), rw.Write())
	release(t, again)
	release(t, w)
}

// The write lease's session has ended: its owner must not get the read lock because of this
// process's memory (Curator's local flag). A request to release changes the version of the
// writer's node.
func TestAWriterThatWasAskedToReleaseIsDowngraded(t *testing.T) {
	c := connect(t, addrsOf(t))
	asked := make(chan struct{})
	rw := recipes.NewReadWriteMutex(c, uniquePath(t), recipes.WithRevocation(func(*recipes.Lease) { close(asked) }))
	owner := recipes.WithOwner(within(t), "owner")
	w := acquire(t, owner, rw.Write())
	if err := c.Revoke(within(t), w.Node()); err != nil {
		t.Fatal(err)
	}
	<-asked
	r := acquire(t, owner, rw.Read())
	release(t, w)
	if !r.Valid() {
		t.Error(r.Err())
	}
	release(t, r)
}

func TestADowngradeOfALostWriterIsRefused(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	other := connect(t, addrsOf(t))
	rw := recipes.NewReadWriteMutex(c, path)
	w := acquire(t, within(t), rw.Write())
	conn := admin(t)
	if err := conn.Delete(w.Node(), -1); err != nil {
		t.Fatal(err)
	}
	taken := acquire(t, within(t), recipes.NewReadWriteMutex(other, path).Write())
	if _, err := rw.Read().Acquire(w.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("downgrade of a deleted writer: %v", err)
	}
	if w.Valid() {
		t.Error("the write lease is still valid")
	}
	release(t, taken)

	w = acquire(t, within(t), rw.Write())
	expire(t, &wire)
	if r, err := rw.Read().Acquire(w.Context()); err == nil && r.SessionID() == w.SessionID() {
		<-r.Lost()
	} else if err != nil && !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	eventually(t, "nothing is left", func() bool {
		for _, n := range contenders(t, conn, path) {
			_ = n
			return false
		}
		return true
	})
}

// An owner by WithOwner has no context that ends with the write lease.
func TestADowngradeByANamedOwnerOfALostWriterIsRefusedAtOnce(t *testing.T) {
	path := uniquePath(t)
	rw := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
	ctx := recipes.WithOwner(within(t), "owner")
	w := acquire(t, ctx, rw.Write())
	if err := admin(t).Delete(w.Node(), -1); err != nil {
		t.Fatal(err)
	}
	if l, err := rw.Read().Acquire(ctx); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("got %v, %v", l, err)
	}
	if w.Valid() {
		t.Error("the write lease is still valid")
	}
}

func TestReadersAndWritersOfManyClientsNeverMeet(t *testing.T) {
	path := uniquePath(t)
	var clients []*recipes.Client
	for range 3 {
		clients = append(clients, connect(t, addrsOf(t)))
	}
	var mu sync.Mutex
	readers, writers := 0, 0
	enter := func(r, w int) {
		mu.Lock()
		defer mu.Unlock()
		readers, writers = readers+r, writers+w
		if writers > 1 || writers == 1 && readers > 0 {
			t.Errorf("%d writers beside %d readers", writers, readers)
		}
	}
	ctx := within(t)
	var wg sync.WaitGroup
	for i := range 30 {
		rw := recipes.NewReadWriteMutex(clients[i%len(clients)], path)
		wg.Go(func() {
			for n := range 4 {
				write := (i+n)%4 == 0
				side, r, w := rw.Read(), 1, 0
				if write {
					side, r, w = rw.Write(), 0, 1
				}
				err := side.Do(ctx, func(ctx context.Context, l *recipes.Lease) error {
					enter(r, w)
					defer enter(-r, -w)
					if write && n%2 == 0 { // as a writer with a reader of its own
						inner, err := rw.Read().Acquire(l.Context())
						if err != nil {
							return err
						}
						return inner.Release(ctx)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), path)) == 0 })
}
