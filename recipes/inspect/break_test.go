package inspect_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// tokenOf returns the token of a planted node.
func tokenOf(w *world, path string) recipes.Token {
	w.T.Helper()
	_, stat, err := w.conn.Exists(path)
	if err != nil {
		w.T.Fatal(err)
	}
	return recipes.Token{Zxid: stat.Czxid}
}

func TestBreakDeletesTheHolderWithTheToken(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.client("a"), w.client("b")
		lease, err := recipes.NewMutex(a, "/l").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		next := make(chan *recipes.Lease, 1)
		go func() {
			l, err := recipes.NewMutex(b, "/l").Acquire(t.Context())
			if err != nil {
				t.Error(err)
			}
			next <- l
		}()
		time.Sleep(time.Second)
		waiter := w.read("/l").Waiters()[0]
		if _, err := inspect.Break(t.Context(), w.conn, "/l", waiter.Token); !errors.Is(err, inspect.ErrNotHeld) {
			t.Errorf("the token of a waiter: error %v", err)
		}
		gone, err := inspect.Break(t.Context(), w.conn, "/l", lease.Token())
		if err != nil || len(gone) != 1 || gone[0].Path != lease.Node() {
			t.Errorf("deleted %v, error %v", gone, err)
		}
		got := <-next
		<-lease.Lost() // the old holder is told
		if _, err := inspect.Break(t.Context(), w.conn, "/l", lease.Token()); !errors.Is(err, inspect.ErrNotHeld) {
			t.Errorf("the token of a former holder: error %v", err)
		}
		if !got.Valid() {
			t.Error("the new holder has lost the lock")
		}
	})
}

func TestBreakDeletesAllPermitsOfOneAcquireAndNoOther(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a := w.client("a")
		lease, err := recipes.NewSemaphore(a, "/s", 3, data("a")).AcquireN(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := recipes.NewSemaphore(a, "/s", 3, data("b")).Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if gone, err := inspect.Break(t.Context(), w.conn, "/s", lease.Token()); err != nil || len(gone) != 2 {
			t.Errorf("deleted %v, error %v", gone, err)
		}
		wantQueue(t, w.read("/s"), "semaphore: *permit b")
	})
}

// breaking changes a node just before it is deleted.
type breaking struct {
	*zk.Conn
	before func()
	multis int
}

func (b *breaking) Multi(ops ...any) ([]zk.MultiResponse, error) {
	b.multis++
	b.before()
	return b.Conn.Multi(ops...)
}

func TestANodeThatChangesBeforeItIsDeleted(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		node, second := "/l/"+curator(0, "lock-", 0), "/l/"+curator(1, "lock-", 1)
		w.ephemeral(node, "")
		w.ephemeral(second, "")
		// A request to release: it is the same holder.
		once := true
		conn := &breaking{Conn: w.conn, before: func() {
			if once {
				once = false
				if _, err := w.conn.Set(node, []byte("__REVOKE__"), -1); err != nil {
					t.Error(err)
				}
			}
		}}
		token := tokenOf(w, node)
		if _, err := inspect.Break(t.Context(), conn, "/l", token); err != nil || conn.multis != 2 {
			t.Errorf("error %v after %d tries", err, conn.multis)
		}
		// It releases: the next holder is not touched.
		token = tokenOf(w, second)
		third := "/l/" + curator(2, "lock-", 2)
		w.ephemeral(third, "")
		conn = &breaking{Conn: w.conn, before: func() {
			if err := w.conn.Delete(second, -1); err != nil {
				t.Error(err)
			}
		}}
		if _, err := inspect.Break(t.Context(), conn, "/l", token); !errors.Is(err, inspect.ErrNotHeld) {
			t.Errorf("error %v", err)
		}
		if _, there := w.Node(third); !there {
			t.Error("the next holder was deleted")
		}
	})
}

func TestBreakLeavesAloneWhatIsNoLockOfOurs(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ephemeral("/x/x-1-0000000001", "")
		w.ephemeral("/b/"+curator(1, "", 0)[3:39], "")
		w.persistent("/b/ready", "")
		w.persistent("/free", "")
		for path, want := range map[string]error{"/x": inspect.ErrUntouchable, "/b": inspect.ErrUntouchable, "/free": inspect.ErrNotHeld, "/none": zk.ErrNoNode} {
			token := recipes.Token{Zxid: 1}
			if l, err := inspect.Read(t.Context(), w.conn, path); err == nil {
				token = l.Queue[0].Token
			}
			before := w.Tree("/")
			if _, err := inspect.Break(t.Context(), w.conn, path, token); !errors.Is(err, want) {
				t.Errorf("%s: error %v, want %v", path, err, want)
			}
			if after := w.Tree("/"); after != before {
				t.Errorf("%s: the nodes were\n%s, and are\n%s", path, before, after)
			}
		}
	})
}
