package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// rarely makes heartbeats so rare that none interferes.
func rarely() recipes.Option { return recipes.WithSessionTimeout(time.Minute) }

// datum is a node of a test that locks guard.
type datum struct {
	t    *testing.T
	conn outsider
	path string
}

func newDatum(t *testing.T) datum {
	t.Helper()
	d := datum{t, admin(t), fmt.Sprintf("/datum-%d", nextID.Add(1))}
	if _, err := d.conn.Create(d.path, []byte("initial"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d datum) set(value string) *zk.SetDataRequest {
	return &zk.SetDataRequest{Path: d.path, Data: []byte(value), Version: -1}
}

func (d datum) is(want string) {
	d.t.Helper()
	if _, err := d.conn.Sync(d.path); err != nil {
		d.t.Fatal(err)
	}
	if got, _, err := d.conn.Get(d.path); string(got) != want || err != nil {
		d.t.Errorf("the datum is %q, %v, want %q", got, err, want)
	}
}

func TestAHolderWrites(t *testing.T) {
	d := newDatum(t)
	c := connect(t, addrsOf(t))
	l := acquire(t, within(t), recipes.NewMutex(c, uniquePath(t)))
	responses, err := l.Multi(within(t), d.set("one"), &zk.CreateRequest{Path: d.path + "/child", Acl: zk.WorldACL(zk.PermAll)})
	if err != nil || len(responses) != 2 || responses[0].Stat.Version != 1 || responses[1].String != d.path+"/child" {
		t.Errorf("got %+v, %v", responses, err)
	}
	d.is("one")
	// A revocation writes to the lock node.
	if err := c.Revoke(within(t), l.Node()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Multi(within(t), d.set("two")); err != nil {
		t.Error(err)
	}
	d.is("two")
	responses, err = l.Multi(within(t), d.set("three"), &zk.CheckVersionRequest{Path: d.path, Version: 99})
	if !errors.Is(err, zk.ErrBadVersion) || errors.Is(err, recipes.ErrLeaseLost) || errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("a bad version: %v", err)
	}
	if len(responses) != 2 || !errors.Is(responses[1].Error, zk.ErrBadVersion) {
		t.Errorf("a bad version: %+v", responses)
	}
	if _, err = l.Multi(within(t), &zk.DeleteRequest{Path: d.path + "/nothing"}); !errors.Is(err, zk.ErrNoNode) || errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("a node of the caller's is missing: %v", err)
	}
	d.is("two")
	release(t, l)
	if _, err := l.Multi(within(t), d.set("after")); !errors.Is(err, recipes.ErrNotHeld) || errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("after the release: %v", err)
	}
	d.is("two")
}

// The lease is valid when Multi is called, and its node goes before the servers
// have the transaction.
func TestAStaleHoldersWriteIsRefused(t *testing.T) {
	d := newDatum(t)
	path := uniquePath(t)
	var wire intercept
	c, other := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), rarely()), connect(t, addrsOf(t))
	mutex := recipes.NewMutex(c, path)
	semaphore := recipes.NewSemaphore(c, path+"-semaphore", 3)
	for _, test := range []struct {
		name  string
		multi func() (func(context.Context, ...any) ([]zk.MultiResponse, error), string) // and the node that is deleted
	}{
		{"of a mutex", func() (func(context.Context, ...any) ([]zk.MultiResponse, error), string) {
			l := acquire(t, within(t), mutex)
			return l.Multi, l.Node()
		}},
		{"of several permits", func() (func(context.Context, ...any) ([]zk.MultiResponse, error), string) {
			l, err := semaphore.AcquireN(within(t), 3)
			if err != nil {
				t.Fatal(err)
			}
			leases := contenders(t, d.conn, path+"-semaphore/leases")
			node := path + "-semaphore/leases/" + leases[0]
			if node == l.Node() {
				node = path + "-semaphore/leases/" + leases[1]
			}
			return l.Multi, node
		}},
		{"of several locks", func() (func(context.Context, ...any) ([]zk.MultiResponse, error), string) {
			l, err := recipes.NewMultiLock(recipes.NewMutex(c, path+"-second"), mutex).Acquire(within(t))
			if err != nil {
				t.Fatal(err)
			}
			return l.Multi, l.Leases()[1].Node()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			multi, node := test.multi()
			wire.on(once(opMulti, func() bool {
				if err := d.conn.Delete(node, -1); err != nil {
					t.Error(err)
				}
				return true
			}), nil)
			_, err := multi(within(t), d.set("stale"))
			if !errors.Is(err, recipes.ErrLeaseLost) || errors.Is(err, recipes.ErrOutcomeUnknown) {
				t.Errorf("got %v", err)
			}
			d.is("initial")
		})
	}
	// Now the same after the next holder has written.
	l := acquire(t, within(t), recipes.NewMutex(other, path))
	if _, err := l.Multi(within(t), d.set("next")); err != nil {
		t.Error(err)
	}
	release(t, l)
	d.is("next")
}

func TestAWriteOfAnExpiredSessionIsRefused(t *testing.T) {
	d := newDatum(t)
	path := uniquePath(t)
	a, ls := linked(t)
	var wire intercept
	c := connect(t, a, recipes.WithDialer(wire.dial), rarely())
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	cutAll(t, ls, links.Down)
	expire(t, &wire)
	next := acquire(t, within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	if _, err := next.Multi(within(t), d.set("next")); err != nil {
		t.Error(err)
	}
	if !l.Valid() {
		t.Fatal("the old holder knows")
	}
	written := make(chan error, 1)
	go func() {
		_, err := l.Multi(within(t), d.set("stale"))
		written <- err
	}()
	healAll(t, ls)
	if err := <-written; !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	if _, err := l.Multi(within(t), d.set("stale")); !errors.Is(err, recipes.ErrLeaseLost) || errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("once more: %v", err)
	}
	d.is("next")
	release(t, next)
}

func TestAWriteWhoseAnswerIsLostHasAnUnknownOutcome(t *testing.T) {
	for _, test := range []struct {
		name           string
		request, reply func(int32) bool
		want           string
	}{
		{"and was carried out", nil, once(opMulti, cut), "written"},
		{"and never reached a server", once(opMulti, cut), nil, "initial"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDatum(t)
			var wire intercept
			c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), rarely())
			l := acquire(t, within(t), recipes.NewMutex(c, uniquePath(t)))
			wire.on(test.request, test.reply)
			if _, err := l.Multi(within(t), d.set("written")); !errors.Is(err, recipes.ErrOutcomeUnknown) || errors.Is(err, recipes.ErrLeaseLost) {
				t.Errorf("got %v", err)
			}
			// This is the procedure that the comment of ErrOutcomeUnknown describes.
			conn := c.Conn()
			eventually(t, "the client is connected again", func() bool {
				_, err := conn.Sync(d.path)
				return err == nil
			})
			if got, _, err := conn.Get(d.path); string(got) != test.want || err != nil {
				t.Errorf("found %q, %v, want %q", got, err, test.want)
			}
			if _, err := l.Multi(within(t), d.set("again")); err != nil {
				t.Error(err)
			}
			release(t, l)
		})
	}
}

// A write that could not be sent for want of a server is made when a server is there again.
func TestAWriteWaitsForAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "holder", rarely())
		l := acquire(t, within(t), recipes.NewMutex(c, "/lock"))
		e.Client("holder").Refuse()
		e.Client("holder").Disconnect()
		time.Sleep(time.Second)
		written := make(chan error, 1)
		go func() { // ends with the write
			_, err := l.Multi(within(t), &zk.CreateRequest{Path: "/written", Acl: zk.WorldACL(zk.PermAll)})
			written <- err
		}()
		time.Sleep(10 * time.Second)
		if len(written) > 0 {
			t.Fatalf("without a server: %v", <-written)
		}
		e.Client("holder").Heal()
		if err := <-written; err != nil {
			t.Error(err)
		}
		if _, there := e.Node("/written"); !there {
			t.Error("it is not written")
		}
		release(t, l)
	})
}

func TestAWriteEndsWithItsContextAndWithItsLease(t *testing.T) {
	apart(t)
	d := newDatum(t)
	a, ls := linked(t)
	var wire intercept
	c := connect(t, a, recipes.WithDialer(wire.dial))
	m := recipes.NewMutex(c, uniquePath(t))
	l := acquire(t, within(t), m)
	cutAll(t, ls, links.BlackHole)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Multi(ctx, d.set("written")); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("the context ends: %v", err)
	}
	<-l.Lost()
	healAll(t, ls)
	l = acquire(t, within(t), m)
	over := make(chan struct{})
	wire.on(once(opMulti, func() bool { <-over; return false }), nil)
	if _, err := l.Multi(within(t), d.set("written")); !errors.Is(err, recipes.ErrLeaseLost) || !errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("the lease ends: %v", err)
	}
	close(over)
	if _, err := l.Multi(within(t), d.set("written")); !errors.Is(err, recipes.ErrLeaseLost) || errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("the lease has ended: %v", err)
	}
}
