package recipes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

func TestEveryRecipeIsBelowTheNamespace(t *testing.T) {
	space, conn := uniquePath(t), admin(t)
	c := connect(t, addrsOf(t), recipes.WithNamespace(space))
	plain := connect(t, addrsOf(t))
	mutex := recipes.NewMutex(c, "/mutex")
	for _, got := range []struct{ path, want string }{
		{mutex.Path(), "/mutex"},
		{recipes.NewNonReentrantMutex(c, "/non-reentrant").Path(), "/non-reentrant"},
		{recipes.NewReadWriteMutex(c, "/rw").Read().Path(), "/rw"},
		{recipes.NewReadWriteMutex(c, "/rw").Write().Path(), "/rw"},
		{recipes.NewSemaphore(c, "/semaphore", 2).Path(), "/semaphore"},
		{recipes.NewMultiLock(mutex).Paths()[0], "/mutex"},
	} {
		if got.path != space+got.want {
			t.Errorf("%s: got %q", got.want, got.path)
		}
	}

	l := acquire(t, within(t), mutex)
	if l.Path() != space+"/mutex" || !strings.HasPrefix(l.Node(), space+"/mutex/") {
		t.Errorf("path %q, node %q", l.Path(), l.Node())
	}
	if nodes := contenders(t, conn, space+"/mutex"); len(nodes) != 1 {
		t.Errorf("nodes: %v", nodes)
	}
	if _, err := recipes.NewMutex(plain, space+"/mutex").TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("by its whole path: %v", err)
	}
	if again := acquire(t, l.Context(), recipes.NewMutex(c, "/mutex")); again.Depth() != 2 {
		t.Errorf("depth %d", again.Depth())
	} else {
		release(t, again)
	}
	if all, err := mutex.Participants(within(t)); err != nil || len(all) != 1 || all[0].Node != l.Node() {
		t.Errorf("participants: %v, %v", all, err)
	}
	asked := make(chan struct{}, 1)
	l.OnRevoke(func(*recipes.Lease) { asked <- struct{}{} })
	if err := c.Revoke(within(t), l.Node()); err != nil {
		t.Fatal(err)
	}
	<-asked
	release(t, l)

	count := recipes.NewSharedCount(c, "/count", 3)
	if err := count.Set(within(t), 5); err != nil {
		t.Fatal(err)
	}
	if n, err := recipes.NewSharedCount(plain, space+"/count", 3).Get(within(t)); n != 5 || err != nil {
		t.Errorf("the count is %d, %v", n, err)
	}
	if err := recipes.NewBarrier(c, "/barrier").Set(within(t)); err != nil {
		t.Fatal(err)
	}
	if exists, _, err := conn.Exists(space + "/barrier"); err != nil || !exists {
		t.Errorf("the barrier's node: %v, %v", exists, err)
	}
	if err := recipes.NewBarrier(plain, space+"/barrier").Remove(within(t)); err != nil {
		t.Fatal(err)
	}
	double := recipes.NewDoubleBarrier(c, "/double", 1)
	if err := double.Enter(within(t)); err != nil {
		t.Fatal(err)
	}
	if nodes := contenders(t, conn, space+"/double"); len(nodes) == 0 {
		t.Error("the double barrier is elsewhere")
	}
	if err := double.Leave(within(t)); err != nil {
		t.Fatal(err)
	}
}

func TestBadPathsStayBadBelowANamespace(t *testing.T) {
	needServers(t)
	c := connect(t, addrsOf(t), recipes.WithNamespace("/namespace"))
	for _, path := range []string{"", "/", "relative", "/a/", "/a//b", "/../a"} {
		if _, err := recipes.NewMutex(c, path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("Acquire of %q: %v", path, err)
		}
	}
	for _, space := range []string{"", "/", "relative", "/a/", "/a//b"} {
		if _, err := recipes.Connect(within(t), addrsOf(t), recipes.WithNamespace(space)); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("Connect with namespace %q: %v", space, err)
		}
	}
}
