package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

func TestALeaseMayBeReleasedAsOftenAndByWhomeverOneLikes(t *testing.T) {
	for name, lock := range lockTrials {
		if name == "Barrier" || name == "DoubleBarrier" {
			continue // whose tests have it
		}
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.at(uniquePath(t))
			l := s.must(lock(s.c, s.path))
			var all sync.WaitGroup
			for range 10 { // none of them has acquired it
				all.Go(func() {
					if err := l.Release(within(t)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if left := s.nodes(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			// A late release does not affect the next holder.
			next := s.must(lock(s.other, s.path))
			standing := s.nodes()
			if err := l.Release(within(t)); err != nil {
				t.Error(err)
			}
			s.leaves(standing)
			s.release(next)
			s.leaves(nil)
		})
	}
}

func TestAReleaseWithAContextThatHasEndedGivesTheLockBackAllTheSame(t *testing.T) {
	s := newStage(t)
	s.at(uniquePath(t))
	m := recipes.NewMutex(s.c, s.path)
	why := errors.New("not needed any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for range 50 {
		l := acquire(t, within(t), m)
		if err := l.Release(ctx); err != nil && !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if m.Held() || l.Valid() || l.State() != recipes.Released {
			t.Fatalf("held: %v, valid: %v, %v", m.Held(), l.Valid(), l.State())
		}
		s.leaves(nil)
		if err := l.Release(within(t)); err != nil {
			t.Errorf("a second release: %v", err)
		}
	}
}

// The leases of one owner may be released in any order: the last one frees the
// lock.
func TestAnOuterLeaseMayBeReleasedBeforeAnInnerOne(t *testing.T) {
	for name, options := range map[string][]recipes.LockOption{
		"a mutex": nil, "a mutex with a hand-off": {recipes.WithLocalHandoff(3)},
	} {
		t.Run(name, func(t *testing.T) {
			path := uniquePath(t)
			c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
			m, stranger := recipes.NewMutex(c, path, options...), recipes.NewMutex(other, path)
			outer := acquire(t, within(t), m)
			inner := acquire(t, outer.Context(), m)
			release(t, outer)
			if outer.Valid() || outer.State() != recipes.Released || !errors.Is(context.Cause(outer.Context()), recipes.ErrNotHeld) {
				t.Errorf("the outer one: %v, %v", outer.State(), context.Cause(outer.Context()))
			}
			if !inner.Valid() || inner.State() != recipes.Held || inner.Context().Err() != nil || !m.Held() {
				t.Errorf("the inner one: %v, %v", inner.State(), inner.Context().Err())
			}
			if _, err := stranger.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
				t.Errorf("a stranger: %v", err)
			}
			if _, err := m.Acquire(outer.Context()); !errors.Is(err, recipes.ErrNotHeld) {
				t.Errorf("with the context of the released one: %v", err)
			}
			third := acquire(t, inner.Context(), m) // the hold is not over
			release(t, third)
			release(t, outer)
			release(t, inner)
			if m.Held() {
				t.Error("held")
			}
			release(t, acquire(t, within(t), stranger))
		})
	}
}

func TestALockOfAMultiLockMayBeReleasedByItself(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	a, b := recipes.NewMutex(c, path+"/a"), recipes.NewMutex(c, path+"/b")
	l, err := recipes.NewMultiLock(a, b).Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	release(t, l.Leases()[0])
	if a.Held() || !b.Held() || l.Valid() {
		t.Errorf("held: %v, %v, valid: %v", a.Held(), b.Held(), l.Valid())
	}
	release(t, acquire(t, within(t), recipes.NewMutex(other, path+"/a")))
	if _, err := recipes.NewMutex(other, path+"/b").TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("the other one: %v", err)
	}
	for range 2 {
		if err := l.Release(within(t)); err != nil {
			t.Error(err)
		}
	}
	release(t, acquire(t, within(t), recipes.NewMutex(other, path+"/b")))
}

func TestABadMultiLockTakesNothing(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	good := recipes.NewMutex(c, path)
	for name, test := range map[string]struct {
		locks []recipes.Lock
		want  error
	}{
		"of nothing":                  {nil, recipes.ErrBadLocks},
		"of two clients":              {[]recipes.Lock{good, recipes.NewMutex(other, path+"2")}, recipes.ErrBadLocks},
		"of one lock twice":           {[]recipes.Lock{good, good}, recipes.ErrBadLocks},
		"of one path in two recipes":  {[]recipes.Lock{good, recipes.NewSemaphore(c, path, 3)}, recipes.ErrBadLocks},
		"with a bad path":             {[]recipes.Lock{good, recipes.NewMutex(c, "bad")}, recipes.ErrBadPath},
		"with a semaphore of nothing": {[]recipes.Lock{good, recipes.NewSemaphore(c, path+"2", 0)}, recipes.ErrBadPermits},
	} {
		m := recipes.NewMultiLock(test.locks...)
		called := false
		for call, err := range map[string]error{
			"Acquire":    func() error { _, err := m.Acquire(within(t)); return err }(),
			"TryAcquire": func() error { _, err := m.TryAcquire(within(t)); return err }(),
			"Do": m.Do(within(t), func(context.Context, *recipes.MultiLease) error {
				called = true
				return nil
			}),
		} {
			if !errors.Is(err, test.want) || called {
				t.Errorf("%s, %s: %v, called: %v", name, call, err, called)
			}
		}
		if good.Held() || len(contenders(t, conn, path)) > 0 {
			t.Errorf("%s: the good lock is held: %v, left: %v", name, good.Held(), contenders(t, conn, path))
		}
	}
	release(t, acquire(t, within(t), good))
}

// persistent creates the directory of a lock and its parents as persistent nodes, so that the
// servers do not remove them while they are empty.
func persistent(t *testing.T, conn outsider, dir string) {
	t.Helper()
	for i, r := range dir + "/" {
		if i == 0 || r != '/' {
			continue
		}
		if _, err := conn.Create(dir[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			t.Fatal(err)
		}
	}
}

// foreign creates persistent nodes, each with one child, in the directory of the contenders.
func foreign(t *testing.T, conn outsider, dir string, names ...string) {
	t.Helper()
	var creates []any
	for _, name := range names {
		for _, path := range []string{dir + "/" + name, dir + "/" + name + "/child"} {
			creates = append(creates, &zk.CreateRequest{Path: path, Acl: zk.WorldACL(zk.PermAll)})
		}
	}
	if _, err := conn.Multi(creates...); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
}

var almostContenders = []string{
	"_c_", "_c_-", "_c_short", "lock-", "lock-abc", "lock-1", "lock-00000000001", "lock--2147483649", "lock-2147483648",
	"block-0000000000", "lease-", "lease-x", "release-0000000000", "__READ__", "__WRIT__", "__WRIT__1", "lock-0000000000-", "locks", "leases",
}

func TestCurator43ChildrenThatOnlyLookLikeContendersBlockNobody(t *testing.T) {
	apart(t)
	for name, lock := range lockTrials {
		if name == "Barrier" || name == "DoubleBarrier" {
			continue // whose tests have it
		}
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.at(uniquePath(t))
			for _, dir := range []string{"", "/a", "/b", "/locks", "/leases", "/b/locks", "/b/leases"} {
				persistent(t, s.conn, s.path+dir)
				foreign(t, s.conn, s.path+dir, almostContenders...)
			}
			before := s.nodes()
			l := s.must(lock(s.c, s.path))
			s.release(l)
			s.release(s.must(lock(s.other, s.path)))
			if after := s.nodes(); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left: %v, before: %v", after, before)
			}
		})
	}
}

// A node with a contender's name is a contender, even if it was made by hand: it may belong to
// another implementation. Acquires wait for it as long as it exists.
func TestHandMadeContendersHaveTheirPlaces(t *testing.T) {
	for node, ahead := range map[string]bool{
		"_c_short-lock-0000000000": true,
		"lock-0000000000":          true,
		"lock--000000001":          true,  // the counter has wrapped between it and this contender
		"lock--2147483640":         false, // 2^31 places away: it is behind
		"lock-2147483647":          false,
		"lock-0000099999":          false,
	} {
		t.Run(node, func(t *testing.T) {
			path := uniquePath(t)
			conn := admin(t)
			persistent(t, conn, path)
			m := recipes.NewMutex(connect(t, addrsOf(t)), path)
			for range 10 { // so that this contender has a number above those ahead
				release(t, acquire(t, within(t), m))
			}
			foreign(t, conn, path, node)
			if l, err := m.TryAcquire(within(t)); ahead && !errors.Is(err, recipes.ErrNotAcquired) || !ahead && err != nil {
				t.Fatalf("a try: %v", err)
			} else if err == nil {
				release(t, l)
			}
			all, err := m.Participants(within(t))
			if err != nil || len(all) != 1 || all[0].Node != path+"/"+node || all[0].Session != 0 {
				t.Errorf("participants: %+v, %v", all, err)
			}
			waiting := acquiring(within(t), m)
			if ahead {
				eventually(t, "it waits for the node", func() bool { return watchesAt(t, path+"/"+node) > 0 })
				for _, p := range []string{path + "/" + node + "/child", path + "/" + node} {
					if err := conn.Delete(p, -1); err != nil {
						t.Fatal(err)
					}
				}
			}
			release(t, (<-waiting).ok(t))
		})
	}
}

// Revoke replaces a node's data: it does not write to a node that is not a lock node.
func TestARevocationOfWhatIsNoContenderChangesNothing(t *testing.T) {
	path := uniquePath(t)
	c, conn := connect(t, addrsOf(t)), admin(t)
	persistent(t, conn, path)
	for _, name := range almostContenders {
		node := path + "/" + name
		if _, err := conn.Create(node, []byte("data"), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		if err := c.Revoke(within(t), node); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("%s: %v", name, err)
		}
		if data, _, err := conn.Get(node); string(data) != "data" || err != nil {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
	if err := c.Revoke(within(t), path+"/nobody-lock-0000000009"); err != nil {
		t.Errorf("a contender that is gone: %v", err)
	}
}
