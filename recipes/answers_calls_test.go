package recipes_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// answeredCalls holds the calls of all recipes.
var answeredCalls = []answeredCall{
	{name: "mutex", call: locking(mutexAt)},
	{name: "mutex that waits", prepare: blocked(mutexAt), call: locking(mutexAt), waits: time.Second},
	{name: "mutex that tries", prepare: blocked(mutexAt), call: func(ctx context.Context, w *answeredWorld) error {
		_, err := recipes.NewMutex(w.subject, "/a/lock").TryAcquire(ctx)
		return except(err, recipes.ErrNotAcquired)
	}},
	{name: "local hand-off", call: locking(func(c *recipes.Client) recipes.Lock {
		return recipes.NewMutex(c, "/a/lock", recipes.WithLocalHandoff(2))
	})},
	{name: "release", prepare: holdingMutex, call: func(ctx context.Context, w *answeredWorld) error { return w.lease.Release(ctx) }},
	{name: "multi", prepare: holdingMutex, call: func(ctx context.Context, w *answeredWorld) error {
		_, err := w.lease.Multi(ctx, &zk.CheckVersionRequest{Path: "/", Version: -1})
		return errors.Join(err, w.lease.Release(ctx))
	}},
	{name: "revoked", prepare: holdingMutex, call: func(ctx context.Context, w *answeredWorld) error {
		defer w.lease.OnRevoke(func(*recipes.Lease) {})()
		return errors.Join(w.other.Revoke(ctx, w.lease.Node()), w.lease.Release(ctx))
	}},
	{name: "revoke", prepare: blocked(mutexAt), call: func(ctx context.Context, w *answeredWorld) error {
		all, err := recipes.NewMutex(w.other, "/a/lock").Participants(ctx)
		if err == nil {
			err = w.subject.Revoke(ctx, all[0].Node)
		}
		return err
	}},
	{name: "participants", prepare: blocked(mutexAt), call: func(ctx context.Context, w *answeredWorld) error {
		_, err := recipes.NewMutex(w.subject, "/a/lock").Participants(ctx)
		return err
	}},
	{name: "read", prepare: blocked(func(c *recipes.Client) recipes.Lock { return recipes.NewReadWriteMutex(c, "/a/lock").Write() }), waits: time.Second,
		call: locking(func(c *recipes.Client) recipes.Lock { return recipes.NewReadWriteMutex(c, "/a/lock").Read() })},
	{name: "write", prepare: blocked(func(c *recipes.Client) recipes.Lock { return recipes.NewReadWriteMutex(c, "/a/lock").Read() }), waits: time.Second,
		call: locking(func(c *recipes.Client) recipes.Lock { return recipes.NewReadWriteMutex(c, "/a/lock").Write() })},
	{name: "downgrade", prepare: func(ctx context.Context, w *answeredWorld) (err error) {
		w.lease, err = recipes.NewReadWriteMutex(w.subject, "/a/lock").Write().Acquire(ctx)
		return err
	}, call: func(ctx context.Context, w *answeredWorld) error {
		inner, stop := context.WithTimeout(w.lease.Context(), answerPatience)
		defer stop()
		reader, err := recipes.NewReadWriteMutex(w.subject, "/a/lock").Read().Acquire(inner)
		err = errors.Join(err, w.lease.Release(ctx))
		if reader != nil {
			err = errors.Join(err, reader.Release(ctx))
		}
		return err
	}},
	{name: "multi-lock", call: held(func(ctx context.Context, w *answeredWorld) (*recipes.MultiLease, error) {
		return recipes.NewMultiLock(recipes.NewMutex(w.subject, "/a/lock"), recipes.NewMutex(w.subject, "/b/lock")).Acquire(ctx)
	})},
	{name: "semaphore", call: locking(semaphoreAt)},
	{name: "semaphore that waits", prepare: blocked(semaphoreAt), call: locking(semaphoreAt), waits: time.Second},
	{name: "two permits", call: held(func(ctx context.Context, w *answeredWorld) (*recipes.Lease, error) {
		return recipes.NewSemaphore(w.subject, "/a/permits", 3).AcquireN(ctx, 2)
	})},
	{name: "semaphore of a shared size", leaves: []string{"/c", "/c/count"}, call: locking(func(c *recipes.Client) recipes.Lock {
		return recipes.NewSharedSemaphore(c, "/a/permits", recipes.NewSharedCount(c, "/c/count", 1))
	})},
	{name: "non-reentrant mutex", call: locking(func(c *recipes.Client) recipes.Lock { return recipes.NewNonReentrantMutex(c, "/a/lock") })},
	{name: "shared count", leaves: []string{"/c", "/c/count"}, call: func(ctx context.Context, w *answeredWorld) error {
		count := recipes.NewSharedCount(w.subject, "/c/count", 1)
		_, err := count.Get(ctx)
		if err == nil {
			err = count.Set(ctx, 2)
		}
		return err
	}},
	{name: "barrier", leaves: []string{"/b", "/b/barrier"}, call: func(ctx context.Context, w *answeredWorld) error {
		b := recipes.NewBarrier(w.subject, "/b/barrier")
		err := b.Set(ctx)
		if err == nil {
			err = b.Remove(ctx)
		}
		return err
	}},
	{name: "barrier that is waited for", prepare: func(ctx context.Context, w *answeredWorld) error {
		b := recipes.NewBarrier(w.other, "/b/barrier")
		time.AfterFunc(time.Second, func() { _ = b.Remove(context.Background()) })
		return b.Set(ctx)
	}, call: func(ctx context.Context, w *answeredWorld) error {
		return recipes.NewBarrier(w.subject, "/b/barrier").Wait(ctx)
	}, waits: time.Second},
	{name: "double barrier", leaves: []string{"/d", "/d/ready"}, call: func(ctx context.Context, w *answeredWorld) error {
		b := recipes.NewDoubleBarrier(w.subject, "/d", 1)
		err := b.Enter(ctx)
		if err == nil {
			err = except(b.Leave(ctx), recipes.ErrMembershipLost)
		}
		return err
	}},
	{name: "double barrier of two", leaves: []string{"/d", "/d/ready"}, waits: 2 * time.Second, prepare: func(ctx context.Context, w *answeredWorld) error {
		other := recipes.NewDoubleBarrier(w.other, "/d", 2)
		go func() { // ends with its context, in a minute
			ctx, stop := context.WithTimeout(context.Background(), time.Minute)
			defer stop()
			if other.Enter(ctx) == nil {
				_ = other.Leave(ctx)
			}
		}()
		return nil
	}, call: func(ctx context.Context, w *answeredWorld) error {
		b := recipes.NewDoubleBarrier(w.subject, "/d", 2)
		err := b.Enter(ctx)
		if err == nil {
			err = except(b.Leave(ctx), recipes.ErrMembershipLost)
		}
		return err
	}},
	{name: "election", call: held(func(ctx context.Context, w *answeredWorld) (*recipes.Lease, error) {
		return recipes.NewElection(w.subject, "/a/election").Campaign(ctx)
	})},
	{name: "leader", prepare: elected, call: func(ctx context.Context, w *answeredWorld) error {
		_, err := recipes.NewElection(w.subject, "/a/election").Leader(ctx)
		return except(err, recipes.ErrNoLeader)
	}},
	{name: "observe", prepare: elected, waits: time.Second, call: func(ctx context.Context, w *answeredWorld) error {
		n := 0
		for _, err := range recipes.NewElection(w.subject, "/a/election").Observe(ctx) {
			if n++; err != nil || n == 2 {
				return err
			}
		}
		return nil
	}},
}

// elected makes the other client lead for a second.
func elected(ctx context.Context, w *answeredWorld) error {
	t, err := recipes.NewElection(w.other, "/a/election").Campaign(ctx)
	if err == nil {
		time.AfterFunc(time.Second, func() { _ = t.Release(context.Background()) })
	}
	return err
}

// except returns err, or nil if err is the expected error.
func except(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
