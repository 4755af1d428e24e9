package zktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

func TestQuick(t *testing.T) {
	w := time.Now()
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		b := time.Now()
		ctx := context.Background()
		open := func(name string) *recipes.Client {
			c, err := recipes.Connect(ctx, e.Servers(), recipes.WithDialer(e.Client(name).DialContext), recipes.WithSessionTimeout(2*time.Second), recipes.WithServerTick(200*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close(ctx) })
			return c
		}
		one, two := open("one"), open("two")
		l, err := recipes.NewMutex(one, "/l").Acquire(ctx)
		t.Log(l.Token(), err, time.Since(b), "wall unknown")
		t.Log(e.Tree("/"))
		e.Client("one").Cut()
		go func() { <-l.Lost(); t.Log("lost after", time.Since(b)) }()
		l2, err := recipes.NewMutex(two, "/l").Acquire(ctx)
		t.Log(l2, err, time.Since(b))
		t.Log(e.Tree("/"))
	})
	t.Log(time.Since(w))
}
