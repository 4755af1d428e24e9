package recipes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// A reader that was a writer before is a reader: like other readers it cannot upgrade, with any
// of its contexts.
func TestAnUpgradeIsRefusedAfterADowngradeToo(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	rw, same := recipes.NewReadWriteMutex(c, path), recipes.NewReadWriteMutex(c, path)
	w := acquire(t, recipes.WithOwner(within(t), "worker"), rw.Write())
	r := acquire(t, w.Context(), rw.Read())
	release(t, w)
	multi := recipes.NewMultiLock(recipes.NewMutex(c, path+"-other"), same.Write())
	for name, call := range map[string]func(context.Context) error{
		"Acquire":            func(ctx context.Context) error { _, err := rw.Write().Acquire(ctx); return err },
		"TryAcquire":         func(ctx context.Context) error { _, err := rw.Write().TryAcquire(ctx); return err },
		"of another value":   func(ctx context.Context) error { _, err := same.Write().Acquire(ctx); return err },
		"with others":        func(ctx context.Context) error { _, err := multi.Acquire(ctx); return err },
		"with others, tried": func(ctx context.Context) error { _, err := multi.TryAcquire(ctx); return err },
		"Do":                 func(ctx context.Context) error { return rw.Write().Do(ctx, nil) },
		"by the owner's name": func(ctx context.Context) error {
			_, err := rw.Write().Acquire(recipes.WithOwner(within(t), "worker"))
			return err
		},
		"when it reads once more": func(ctx context.Context) error {
			inner := acquire(t, ctx, rw.Read())
			defer release(t, inner)
			_, err := rw.Write().Acquire(inner.Context())
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(r.Context(), patient)
		if err := call(ctx); !errors.Is(err, recipes.ErrUpgrade) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	if !r.Valid() || len(contenders(t, admin(t), path)) != 1 || len(contenders(t, admin(t), path+"-other")) != 0 {
		t.Error("the refused calls have left something")
	}
	release(t, r)
	release(t, acquire(t, within(t), rw.Write()))
}

// An empty id is not an owner: two acquires with empty ids do not have the same owner.
func TestAnEmptyOwnerOwnsNothing(t *testing.T) {
	m := recipes.NewMutex(connect(t, addrsOf(t)), uniquePath(t))
	ctx := recipes.WithOwner(within(t), "")
	l := acquire(t, ctx, m)
	if _, err := m.TryAcquire(ctx); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("got %v", err)
	}
	inner := acquire(t, l.Context(), m) // the lease itself re-enters
	release(t, inner)
	release(t, l)
}

// An acquire that waits within the process, without a node of its own, is told of the close as
// well.
func TestWaitersWithoutANodeEndWithErrClosedToo(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	conn := admin(t)
	held := acquire(t, within(t), recipes.NewMutex(other, path))
	handoff := recipes.NewMutex(c, path, recipes.WithLocalHandoff(3))
	var waiting []<-chan result
	for range 3 {
		waiting = append(waiting, acquiring(within(t), handoff))
	}
	reentering := recipes.WithOwner(within(t), "worker") // the second waits for the first
	plain := recipes.NewMutex(c, path)
	for range 2 {
		waiting = append(waiting, acquiring(reentering, plain))
	}
	eventually(t, "they wait", func() bool { return len(contenders(t, conn, path)) == 3 })
	if err := c.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	for _, w := range waiting {
		if r := <-w; !errors.Is(r.err, recipes.ErrClosed) {
			t.Errorf("got %v, %v", r.lease, r.err)
		}
	}
	eventually(t, "nothing is left but the holder", func() bool { return len(contenders(t, conn, path)) == 1 })
	release(t, held)
}

// Two concurrent acquires of one owner: the second waits for the first, re-enters its lock, and
// ends with its own context.
func TestASecondAcquireOfAnOwnerEndsWithItsContext(t *testing.T) {
	path := uniquePath(t)
	held := acquire(t, within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	m := recipes.NewMutex(connect(t, addrsOf(t)), path)
	owner := recipes.WithOwner(within(t), "owner")
	first := acquiring(owner, m)
	conn := admin(t)
	eventually(t, "the first waits", func() bool { return len(contenders(t, conn, path)) == 2 })
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(owner)
	second, third := acquiring(ctx, m), acquiring(owner, m)
	time.AfterFunc(20*time.Millisecond, func() { cancel(enough) })
	if r := <-second; !errors.Is(r.err, enough) {
		t.Errorf("the second acquire: %v", r.err)
	}
	if n := len(contenders(t, conn, path)); n != 2 {
		t.Errorf("%d nodes, of a holder and one owner", n)
	}
	release(t, held)
	l, again := (<-first).ok(t), (<-third).ok(t)
	if l.Token() != again.Token() || max(l.Depth(), again.Depth()) != 2 {
		t.Errorf("the owner holds %v and %v", l, again)
	}
	release(t, again)
	release(t, l)
}
