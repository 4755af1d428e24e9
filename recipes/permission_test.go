package recipes_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// denied creates the nodes of a lock with all permissions, except that the client lacks one of
// them at the node at.
func denied(t *testing.T, conn *zk.Conn, without int32, at string) {
	t.Helper()
	for _, dir := range []string{"/svc", "/svc/l", "/svc/l/locks", "/svc/l/leases"} {
		if _, err := conn.Create(dir, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.SetACL(at, zk.WorldACL(zk.PermAll&^without), -1); err != nil {
		t.Fatal(err)
	}
}

// The error of a call without a permission names the node that refuses, and the permission.
func TestAMissingPermissionIsNamed(t *testing.T) {
	for _, c := range []struct {
		call, at string
		without  int32
		says     string
	}{
		{"Mutex.Acquire", "/svc/l", zk.PermCreate, "no permission to create at /svc/l"},
		{"Mutex.Acquire", "/svc/l", zk.PermRead, "no permission to read at /svc/l"},
		{"Mutex.TryAcquire", "/svc/l", zk.PermCreate, "no permission to create at /svc/l"},
		{"Mutex.Participants", "/svc/l", zk.PermRead, "no permission to read at /svc/l"},
		{"ReadWriteMutex.Acquire", "/svc/l", zk.PermCreate, "no permission to create at /svc/l"},
		{"NonReentrantMutex.Acquire", "/svc/l/locks", zk.PermCreate, "no permission to create at /svc/l/locks"},
		{"Semaphore.Acquire", "/svc/l/locks", zk.PermCreate, "no permission to create at /svc/l/locks"},
		{"Semaphore.Acquire", "/svc/l/leases", zk.PermCreate, "no permission to create at /svc/l/leases"},
		{"Semaphore.Acquire", "/svc/l/leases", zk.PermRead, "no permission to read at /svc/l/leases"},
		{"Election.Campaign", "/svc/l", zk.PermCreate, "no permission to create at /svc/l"},
		{"Election.Leader", "/svc/l", zk.PermRead, "no permission to read at /svc/l"},
		{"SharedCount.Get", "/svc/l", zk.PermRead, "no permission to read at /svc/l"},
		{"Barrier.Set", "/svc", zk.PermCreate, "no permission to create at /svc"},
		{"DoubleBarrier.Enter", "/svc/l", zk.PermCreate, "no permission to create at /svc/l"},
	} {
		t.Run(c.call+", "+c.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				denied(t, bubbleClient(t, e, "administrator").Conn(), c.without, c.at)
				client := bubbleClient(t, e, "one", recipes.WithNamespace("/svc"))
				call := serverCalls[c.call]
				if c.call == "Barrier.Set" {
					call = func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
						return recipes.NewBarrier(c, "/b").Set(ctx)
					}
				}
				err := call(t.Context(), client, nil)
				if !errors.Is(err, zk.ErrNoAuth) || !strings.Contains(err.Error(), c.says) || strings.Count(err.Error(), "permission") != 1 {
					t.Errorf("it says %v", err)
				}
			})
		})
	}
}

// The error of a guarded transaction names the node and the permission as well, for every
// operation.
func TestAMissingPermissionForAGuardedWriteIsNamed(t *testing.T) {
	acl := zk.WorldACL(zk.PermAll)
	for _, c := range []struct {
		without int32
		at      string
		op      any
		says    string
	}{
		{zk.PermWrite, "/svc/l", &zk.SetDataRequest{Path: "/svc/l", Version: -1}, "no permission to write at /svc/l"},
		{zk.PermCreate, "/svc/l", &zk.CreateRequest{Path: "/svc/l/new", Acl: acl}, "no permission to create at /svc/l"},
		{zk.PermCreate, "/", &zk.CreateRequest{Path: "/new", Acl: acl}, "no permission to create at /"},
		{zk.PermDelete, "/svc/l", &zk.DeleteRequest{Path: "/svc/l/locks", Version: -1}, "no permission to delete at /svc/l"},
		{zk.PermRead, "/svc/l", &zk.CheckVersionRequest{Path: "/svc/l", Version: -1}, "no permission to read at /svc/l"},
	} {
		t.Run(c.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				client := bubbleClient(t, e, "one")
				one, err := recipes.NewMultiLock(recipes.NewMutex(client, "/locks/a"), recipes.NewMutex(client, "/locks/b")).Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				denied(t, bubbleClient(t, e, "administrator").Conn(), c.without, c.at)
				fine := &zk.CheckVersionRequest{Path: "/svc", Version: -1}
				for name, multi := range map[string]func(context.Context, ...any) ([]zk.MultiResponse, error){
					"a lease": acquire(t, t.Context(), recipes.NewMutex(client, "/locks/c")).Multi, "a multi-lease": one.Multi,
				} {
					if _, err := multi(t.Context(), fine, c.op, fine); !errors.Is(err, zk.ErrNoAuth) || !strings.HasSuffix(err.Error(), c.says) || strings.Count(err.Error(), "permission") != 1 {
						t.Errorf("%s says %v", name, err)
					}
				}
			})
		})
	}
}

// The error of a release names the permission that is missing at the lock's own node, too.
func TestAMissingPermissionForAReleaseIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		admin := bubbleClient(t, e, "administrator").Conn()
		denied(t, admin, 0, "/svc/l")
		l := acquire(t, t.Context(), recipes.NewMutex(bubbleClient(t, e, "one"), "/svc/l"))
		if _, err := admin.SetACL("/svc/l", zk.WorldACL(zk.PermAll&^zk.PermDelete), -1); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(t.Context()); !errors.Is(err, zk.ErrNoAuth) || !strings.HasSuffix(err.Error(), "no permission to delete at /svc/l") {
			t.Errorf("it says %v", err)
		}
	})
}

// One transaction creates the nodes of a multi-lock, and one of the directories may refuse it.
func TestAMissingPermissionForOneOfSeveralLocksIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		denied(t, bubbleClient(t, e, "administrator").Conn(), zk.PermCreate, "/svc/l")
		client := bubbleClient(t, e, "one")
		_, err := recipes.NewMultiLock(recipes.NewMutex(client, "/a"), recipes.NewMutex(client, "/svc/l"), recipes.NewMutex(client, "/z")).Acquire(t.Context())
		if !errors.Is(err, zk.ErrNoAuth) || !strings.Contains(err.Error(), "no permission to create at /svc/l") {
			t.Errorf("it says %v", err)
		}
	})
}
