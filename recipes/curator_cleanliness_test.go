package recipes_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// TestLockCleanlinessWithFaults: an acquire fails after its node has been created. Curator's test
// replaces the step that fails; here the servers refuse each step of each lock in turn.

func TestCuratorLockCleanlinessWithFaults(t *testing.T) {
	apart(t)
	const all = zk.PermAll
	for name, test := range map[string]struct {
		dir  string // below the lock's path
		perm int32  // the permissions that remain there
		lock lockTrial
	}{
		"the queue of a mutex cannot be listed":             {"", all &^ zk.PermRead, lockTrials["Mutex"]},
		"that of a mutex with a hand-off":                   {"", all &^ zk.PermRead, lockTrials["Mutex, handed on"]},
		"that of a writer":                                  {"", all &^ zk.PermRead, lockTrials["Write"]},
		"that of the second mutex of a multi-lock":          {"/b", all &^ zk.PermRead, lockTrials["MultiLock"]},
		"the acquirers of a semaphore cannot be listed":     {"/locks", all &^ zk.PermRead, lockTrials["Semaphore"]},
		"the permits of a semaphore cannot be listed":       {"/leases", all &^ zk.PermRead, lockTrials["Semaphore"]},
		"permits cannot be taken":                           {"/leases", all &^ zk.PermCreate, lockTrials["Semaphore"]},
		"a non-reentrant mutex cannot be taken":             {"/leases", all &^ zk.PermCreate, lockTrials["NonReentrantMutex"]},
		"the semaphore of a multi-lock cannot be taken":     {"/b/leases", all &^ zk.PermCreate, lockTrials["MultiLock with a Semaphore"]},
		"the semaphore of a multi-lock has a queue unknown": {"/b/locks", all &^ zk.PermRead, lockTrials["MultiLock with a Semaphore"]},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.at(uniquePath(t))
			dir := s.path + test.dir
			persistent(t, s.conn, dir)
			s.release(s.must(test.lock(s.other, s.path)))
			s.leaves(nil)
			may := func(perm int32) {
				t.Helper()
				if _, err := s.conn.SetACL(dir, zk.WorldACL(perm), -1); err != nil {
					t.Fatal(err)
				}
			}
			for range 5 {
				may(test.perm)
				if l, err := test.lock(s.c, s.path)(within(t)); !errors.Is(err, zk.ErrNoAuth) {
					t.Errorf("got %v, %v", l, err)
				}
				may(all)
				s.leaves(nil)
				s.release(s.must(test.lock(s.other, s.path)))
				s.release(s.must(test.lock(s.c, s.path)))
				s.leaves(nil)
			}
			eventually(t, "no watch is left", func() bool { return s.watches() == 0 })
		})
	}
}

// The node of the contender ahead cannot be watched: the contender behind it gives up, and the
// holder is not disturbed.
func TestCuratorLockCleanlinessWhenTheOneAheadCannotBeWatched(t *testing.T) {
	secret := zk.DigestACL(zk.PermAll, "holder", "password")
	for _, name := range []string{"Mutex", "Mutex, handed on", "Write", "MultiLock"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.at(uniquePath(t))
			lock := lockTrials[name]
			holder := connect(t, addrsOf(t), recipes.WithAuth("digest", []byte("holder:password")))
			l := s.must(lock(holder, s.path, recipes.WithLockACL(secret...)))
			standing := s.nodes()
			if l, err := lock(s.c, s.path)(within(t)); !errors.Is(err, zk.ErrNoAuth) {
				t.Errorf("got %v, %v", l, err)
			}
			s.leaves(standing)
			if valid, ok := l.(interface{ Valid() bool }); !ok || !valid.Valid() {
				t.Error("the holder's lease is not valid")
			}
			s.release(l)
			s.release(s.must(lock(s.c, s.path)))
			s.leaves(nil)
		})
	}
}

// When the clean-up is refused too, the acquire still returns its own error, and its context
// bounds the clean-up: CURATOR-41.
func TestCurator41ARefusedCleanUpHidesNothing(t *testing.T) {
	s := newStage(t)
	s.at(uniquePath(t))
	persistent(t, s.conn, s.path)
	m := recipes.NewMutex(s.c, s.path)
	s.release(s.must(leasing(m.Acquire)))
	// The permission cannot be restored except by deleting the node. Only this test may read it:
	// exists needs read permission, too, since 3.8.4 and 3.9.2.
	if err := s.conn.AddAuth("digest", []byte("tester:secret")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.SetACL(s.path, append(zk.WorldACL(zk.PermCreate), zk.DigestACL(zk.PermRead, "tester", "secret")...), -1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Delete(s.path, -1) })
	refused := make(chan struct{})
	s.wire.on(nil, once(opDelete, func() bool { close(refused); return true }))
	ctx, cancel := context.WithCancel(within(t))
	done := calling(ctx, leasing(m.Acquire))
	<-refused
	cancel()
	if o := s.await(done); !errors.Is(o.err, zk.ErrNoAuth) || errors.Is(o.err, context.Canceled) {
		t.Errorf("got %v", o.err)
	}
	if m.Held() {
		t.Error("held")
	}
	if err := s.c.Close(within(t)); err != nil { // the node is deleted with its session
		t.Error(err)
	}
	eventually(t, "nothing is left", func() bool {
		ok, stat, err := s.conn.Exists(s.path)
		return err == nil && (!ok || stat.NumChildren == 0)
	})
}

// TestCuratorLockACLs is TestLockACLs: below a namespace, by an address.
func TestCuratorLockACLs(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	acl := zk.ACL{Perms: zk.PermAll, Scheme: "ip", ID: "127.0.0.1"}
	c := connect(t, addrsOf(t), recipes.WithNamespace(path), recipes.WithACL(acl))
	w := acquire(t, within(t), recipes.NewReadWriteMutex(c, "/bar").Write())
	for _, node := range []string{path, path + "/bar", w.Node()} {
		got, _, err := conn.GetACL(node)
		if err != nil || !slices.Equal(got, []zk.ACL{acl}) {
			t.Errorf("%s: %v, %v", node, got, err)
		}
	}
	release(t, w)

	own := zk.ACL{Perms: zk.PermCreate | zk.PermRead | zk.PermDelete, Scheme: "ip", ID: "127.0.0.1"}
	w = acquire(t, within(t), recipes.NewReadWriteMutex(c, "/parent/foo", recipes.WithLockACL(own)).Write())
	for node, want := range map[string]zk.ACL{path + "/parent": acl, path + "/parent/foo": acl, w.Node(): own} {
		got, _, err := conn.GetACL(node)
		if err != nil || !slices.Equal(got, []zk.ACL{want}) {
			t.Errorf("%s: %v, %v", node, got, err)
		}
	}
	release(t, w)
}
