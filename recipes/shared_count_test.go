package recipes_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// A client that may not create the directory of a count gets the server's error.
func TestACountThatCannotBeMadeSaysWhy(t *testing.T) {
	path, c, conn := uniquePath(t), connect(t, addrsOf(t)), admin(t)
	persistent(t, conn, path)
	if _, err := conn.SetACL(path, zk.WorldACL(zk.PermRead|zk.PermDelete), -1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Delete(path, -1) })
	if err := recipes.NewSharedCount(c, path+"/in/it", 2).Set(within(t), 3); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("got %v; want %v", err, zk.ErrNoAuth)
	}
}
