package inspect_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/inspect"
)

// meddling changes the nodes just before they are read.
type meddling struct {
	inspect.Source
	children, get func(path string)
	lists         atomic.Int64
}

func (m *meddling) Children(path string) ([]string, *zk.Stat, error) {
	m.lists.Add(1)
	if m.children != nil {
		m.children(path)
	}
	return m.Source.Children(path)
}

func (m *meddling) Get(path string) ([]byte, *zk.Stat, error) {
	if m.get != nil {
		m.get(path)
	}
	return m.Source.Get(path)
}

// A holder that is gone before it is read does not leave a queue without a holder.
func TestAHolderThatLeavesWhileItsQueueIsRead(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 3 {
			w.ephemeral("/l/"+curator(i, "lock-", i), fmt.Sprint(i))
		}
		once := true
		src := &meddling{Source: w.conn, get: func(path string) {
			if once {
				once = false
				if err := w.conn.Delete("/l/"+curator(0, "lock-", 0), -1); err != nil {
					t.Error(err)
				}
			}
		}}
		l, err := inspect.Read(t.Context(), src, "/l", inspect.Parallel(1))
		if err != nil {
			t.Fatal(err)
		}
		wantQueue(t, l, "mutex: *lock 1 lock 2")
		if l.Changing || src.lists.Load() != 2 {
			t.Errorf("changing %v after %d lists", l.Changing, src.lists.Load())
		}
	})
}

// A queue that changes all the time is read a bounded number of times, and marked.
func TestAQueueThatNeverStandsStill(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ephemeral("/l/"+curator(0, "lock-", 0), "stays")
		next := 1
		src := &meddling{Source: w.conn}
		src.children = func(path string) { w.ephemeral("/l/"+curator(next, "lock-", next), "passes") }
		src.get = func(path string) {
			if strings.HasSuffix(path, curator(next, "lock-", next)) {
				if err := w.conn.Delete(path, -1); err != nil {
					t.Error(err)
				}
				next++
			}
		}
		l, err := inspect.Read(t.Context(), src, "/l", inspect.Parallel(1))
		if err != nil {
			t.Fatal(err)
		}
		wantQueue(t, l, "mutex: *lock stays")
		if !l.Changing || src.lists.Load() != 5 {
			t.Errorf("changing %v after %d lists", l.Changing, src.lists.Load())
		}
	})
}

// All contenders leave while the queue is read: the lock is free, and not broken.
func TestALockThatBecomesFreeWhileItIsRead(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		node := "/l/" + curator(0, "lock-", 0)
		w.ephemeral(node, "")
		w.ephemeral("/other/"+curator(0, "lock-", 0), "")
		src := &meddling{Source: w.conn, get: func(path string) {
			if path == node {
				if err := w.conn.Delete(node, -1); err != nil {
					t.Error(err)
				}
			}
		}}
		if _, err := inspect.Read(t.Context(), src, "/l"); !errors.Is(err, inspect.ErrFree) {
			t.Errorf("error %v", err)
		}
		w.ephemeral(node, "")
		found, err := inspect.Find(t.Context(), src, []string{"/"})
		if err != nil {
			t.Fatal(err)
		}
		wantPaths(t, found, "/other mutex")
	})
}

// An acquire leaves the queue of a semaphore as it takes its permit. The reader finds it in
// one of the two, and not in both or in none.
func TestAnAcquireIsNotCountedTwice(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		lock, permit := "/s/locks/"+curator(1, "lock-", 0), "/s/leases/"+curator(1, "lease-", 0)
		w.ephemeral(lock, "a")
		w.persistent("/s/leases", "")
		once := true
		src := &meddling{Source: w.conn, children: func(path string) {
			if path == "/s/locks" && once { // the permits have been listed
				once = false
				acl := zk.WorldACL(zk.PermAll)
				if _, err := w.conn.Multi(&zk.DeleteRequest{Path: lock, Version: -1}, &zk.CreateRequest{Path: permit, Data: []byte("a"), Acl: acl, Flags: zk.FlagEphemeral}); err != nil {
					t.Error(err)
				}
			}
		}}
		l, err := inspect.Read(t.Context(), src, "/s")
		if err != nil {
			t.Fatal(err)
		}
		wantQueue(t, l, "semaphore: *permit a")
	})
}

// Folders that come and go while the tree is walked are skipped.
func TestAFolderThatIsGoneWhenItsTurnComes(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.persistent("/l/gone", "")
		w.ephemeral("/l/stays/"+curator(0, "lock-", 0), "")
		src := &meddling{Source: w.conn, children: func(path string) {
			if path == "/l/gone" {
				if err := w.conn.Delete(path, -1); err != nil {
					t.Error(err)
				}
			}
		}}
		found, err := inspect.Find(t.Context(), src, []string{"/l"})
		if err != nil {
			t.Fatal(err)
		}
		wantPaths(t, found, "/l/stays mutex")
	})
}
