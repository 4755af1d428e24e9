package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// The scenarios of Curator's own tests of upgrades and downgrades, listed in
// curator_read_write_test.go.

func TestCuratorReadWriteUpgradingIsDisallowed(t *testing.T) {
	// Curator lets it wait until it times out.
	path := uniquePath(t)
	conn := admin(t)
	rw := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
	r := acquire(t, within(t), rw.Read())
	for _, upgrade := range []func(context.Context) (*recipes.Lease, error){rw.Write().Acquire, rw.Write().TryAcquire} {
		if _, err := upgrade(r.Context()); !errors.Is(err, recipes.ErrUpgrade) {
			t.Errorf("got %v", err)
		}
	}
	if !r.Valid() || len(contenders(t, conn, path)) != 1 {
		t.Error("the read lock has suffered")
	}
	release(t, r)
	release(t, acquire(t, within(t), rw.Write()))
}

func TestCuratorReadWriteDowngradingRespectsThreads(t *testing.T) {
	path := uniquePath(t)
	rw := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
	w := acquire(t, within(t), rw.Write())
	other := make(chan error, 1)
	go func() { // not the writer, but in the same process
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := rw.Read().Acquire(ctx)
		other <- err
	}()
	if err := returns(t, other); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("another reader beside the writer: %v", err)
	}
	if _, err := rw.Read().TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("another reader beside the writer: %v", err)
	}
	r := acquire(t, w.Context(), rw.Read()) // in any goroutine: the context carries the writer's owner
	release(t, r)
	release(t, w)
}

func TestCuratorReadWriteDowngrading(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	rw, other := recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path), recipes.NewReadWriteMutex(connect(t, addrsOf(t)), path)
	w := acquire(t, within(t), rw.Write())
	r := acquire(t, w.Context(), rw.Read())
	if _, err := other.Read().TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a reader beside a writer that reads: %v", err)
	}
	release(t, w)
	if !r.Valid() {
		t.Fatal("the downgraded reader has lost its lease")
	}
	beside := acquire(t, within(t), other.Read())
	if _, err := other.Write().TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a writer beside readers: %v", err)
	}
	release(t, beside)
	release(t, r)
	eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
	release(t, acquire(t, within(t), other.Write()))
}

func TestCuratorReadWriteContendingDowngrading(t *testing.T) {
	// Curator's test has both in one client, and found CURATOR-621.
	for _, clients := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d clients", clients), func(t *testing.T) {
			path := uniquePath(t)
			conn := admin(t)
			c := connect(t, addrsOf(t))
			c2 := c
			if clients == 2 {
				c2 = connect(t, addrsOf(t))
			}
			rw := recipes.NewReadWriteMutex(c, path)
			w := acquire(t, within(t), rw.Write())
			writing := acquiring(within(t), recipes.NewReadWriteMutex(c2, path).Write())
			eventually(t, "the second writer queues", func() bool { return len(contenders(t, conn, path)) == 2 })
			r := acquire(t, w.Context(), rw.Read())
			release(t, w)
			// The list still has the writer waiting, and the reader.
			all, err := rw.Read().Participants(within(t))
			if err != nil || len(all) != 2 || all[0].Node != r.Node() || all[1].Kind != "__WRIT__" {
				t.Errorf("participants: %v, %v", all, err)
			}
			select {
			case got := <-writing:
				t.Fatalf("a writer beside the downgraded reader: %v, %v", got.lease, got.err)
			default:
			}
			if !r.Valid() {
				t.Error("the reader has lost its lease")
			}
			release(t, r)
			next := (<-writing).ok(t)
			if next.Token().Compare(w.Token()) <= 0 {
				t.Errorf("token %v after %v", next.Token(), w.Token())
			}
			release(t, next)
		})
	}
}
