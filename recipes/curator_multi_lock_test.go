package recipes_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// TestInterProcessMultiMutex's own scenarios. Curator's test makes its bad locks itself; here
// each bad lock fails on its own.

func TestCuratorMultiLockSomeReleasesFail(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	good, bad := recipes.NewMutex(c, path+"/our-lock-1"), recipes.NewMutex(c, path+"/our-lock-2")
	for _, gone := range []int{0, 1} {
		l, err := recipes.NewMultiLock(good, bad).Acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Delete(l.Leases()[gone].Node(), -1); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("release: %v", err)
		}
		// The other lock was released nevertheless, in either order.
		for _, lock := range []*recipes.Mutex{good, bad} {
			if lock.Held() {
				t.Errorf("%s is held after the release", lock.Path())
			}
			release(t, acquire(t, within(t), recipes.NewMutex(other, lock.Path())))
		}
	}
}

func TestCuratorMultiLockSomeLocksFailToLock(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	good := recipes.NewMutex(c, path+"/good")
	rw := recipes.NewReadWriteMutex(c, path+"/rw")
	reading := acquire(t, within(t), rw.Read())
	fails := func(what string, m *recipes.MultiLock, want error) {
		t.Helper()
		ctx := recipes.WithOwner(within(t), "the reader")
		if what == "an upgrade" {
			ctx = reading.Context()
		}
		if _, err := m.Acquire(ctx); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		if left := contenders(t, conn, path+"/good"); good.Held() || len(left) > 0 {
			t.Errorf("%s: the good lock is held: %v; left: %v", what, good.Held(), left)
		}
		release(t, acquire(t, within(t), recipes.NewMutex(other, path+"/good")))
	}
	fails("an upgrade", recipes.NewMultiLock(good, rw.Write()), recipes.ErrUpgrade)

	// The client may not create nodes in a directory: the create is refused in the middle of the
	// transaction, and after the first lock is held.
	closed := zk.WorldACL(zk.PermRead)
	for _, dir := range []string{path + "/closed", path + "/closed-semaphore", path + "/closed-semaphore/locks", path + "/closed-semaphore/leases"} {
		acl := closed
		if dir == path+"/closed-semaphore" {
			acl = zk.WorldACL(zk.PermAll)
		}
		if _, err := conn.Create(dir, nil, 0, acl); err != nil {
			t.Fatal(err)
		}
	}
	fails("no permission for a mutex", recipes.NewMultiLock(good, recipes.NewMutex(c, path+"/closed")), zk.ErrNoAuth)
	fails("no permission for a semaphore", recipes.NewMultiLock(good, recipes.NewSemaphore(c, path+"/closed-semaphore", 1)), zk.ErrNoAuth)
	release(t, reading)
}
