package recipes_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// For contenders of the same session a turn ends when its release begins.

func TestTheNextOfTheSameClientDoesNotWaitForTheAnswerToTheRelease(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c, conn := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), admin(t)
	m := recipes.NewMutex(c, path)
	first := acquire(t, within(t), m)
	var listed atomic.Bool
	wire.on(nil, func(op int32) bool {
		if op == opChildren {
			listed.Store(true)
		}
		return true
	})
	next := acquiring(within(t), m)
	eventually(t, "the next has seen itself in the queue", listed.Load)
	stranger := acquiring(within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	eventually(t, "a stranger waits", func() bool { return len(contenders(t, conn, path)) == 3 })

	free := make(chan struct{})
	pass := sync.OnceFunc(func() { close(free) })
	t.Cleanup(pass)
	wire.on(func(op int32) bool {
		if op == opDelete {
			<-free
		}
		return true
	}, nil)
	released := make(chan error, 1)
	go func() { released <- first.Release(within(t)) }()
	second := first
	select {
	case r := <-next:
		second = r.ok(t)
	case <-within(t).Done():
		t.Error("the next one waits for an answer that does not come")
	}
	if n := len(contenders(t, conn, path)); n != 3 {
		t.Errorf("%d nodes: the first one's has gone", n)
	}
	if second.Token().Compare(first.Token()) <= 0 || !second.Valid() {
		t.Errorf("token %v after %v", second.Token(), first.Token())
	}
	select {
	case <-stranger:
		t.Error("two hold the lock")
	default:
	}
	pass()
	if err := <-released; err != nil {
		t.Error(err)
	}
	release(t, second)
	release(t, (<-stranger).ok(t))
}

// TestADowngradeOnItsWayKeepsTheNextWriterOut: as long as the writer's node exists, the reader's
// node may still be created, ahead of the next writer.
func TestADowngradeOnItsWayKeepsTheNextWriterOut(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c, conn := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), admin(t)
	rw := recipes.NewReadWriteMutex(c, path)
	owner := recipes.WithOwner(within(t), "the writer")
	writer := acquire(t, owner, rw.Write())
	next := acquiring(within(t), rw.Write())
	eventually(t, "the next writer waits", func() bool { return len(contenders(t, conn, path)) == 2 })

	came, free := make(chan struct{}), make(chan struct{})
	wire.on(func(op int32) bool {
		if op == opMulti {
			close(came)
			<-free
		}
		return true
	}, nil)
	reading := make(chan result, 1)
	go func() {
		l, err := rw.Read().Acquire(owner)
		reading <- result{l, err}
	}()
	<-came
	released := make(chan error, 1)
	go func() { released <- writer.Release(within(t)) }()
	<-writer.Context().Done() // the release has begun
	wire.on(nil, nil)
	close(free)
	if err := <-released; err != nil {
		t.Error(err)
	}
	reader := (<-reading).ok(t)
	select {
	case <-next:
		t.Error("a writer and a reader hold the lock")
	default:
	}
	release(t, reader)
	release(t, (<-next).ok(t))
}

// TestTheNextOfTheSameClientWaitsForAGuardedWriteThatIsUnderWay: the servers may still carry the
// write out although its caller has given up.
func TestTheNextOfTheSameClientWaitsForAGuardedWriteThatIsUnderWay(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c, conn := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), admin(t)
	m := recipes.NewMutex(c, path)
	first := acquire(t, within(t), m)
	var listed atomic.Bool
	came, free := make(chan struct{}), make(chan struct{})
	pass := sync.OnceFunc(func() { close(free) })
	t.Cleanup(pass)
	wire.on(nil, func(op int32) bool {
		switch op {
		case opChildren:
			listed.Store(true)
		case opMulti:
			close(came)
			<-free
		}
		return true
	})
	next := acquiring(within(t), m)
	eventually(t, "the next has seen itself in the queue", listed.Load)
	eventually(t, "it waits", func() bool { return len(contenders(t, conn, path)) == 2 })
	ctx, giveUp := context.WithCancel(t.Context())
	wrote := make(chan error, 1)
	go func() {
		_, err := first.Multi(ctx, &zk.SetDataRequest{Path: path, Data: []byte("first"), Version: -1})
		wrote <- err
	}()
	<-came
	giveUp()
	if err := <-wrote; !errors.Is(err, recipes.ErrOutcomeUnknown) {
		t.Errorf("the write that was given up: %v", err)
	}
	released := make(chan error, 1)
	go func() { released <- first.Release(within(t)) }()
	<-first.Context().Done()
	select {
	case <-next:
		t.Error("the next one's turn comes while the first may still write")
	case <-time.After(100 * time.Millisecond): // a wrong turn would come at once
	}
	pass()
	if err := <-released; err != nil {
		t.Error(err)
	}
	release(t, (<-next).ok(t))
}

// A guarded write whose connection breaks may be at a server that carries it out later. Another
// contender of the session would read the data before that, and write it after that. Its turn comes
// when the write is carried out, or cannot be any more: a later write of the session is answered.
func TestTheNextOneWaitsForAWriteWhoseConnectionHasBroken(t *testing.T) {
	for _, handoff := range []int{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			c, wire := interceptedClient(t, zktest.Start(t), "both")
			m := recipes.NewMutex(c, "/lock", recipes.WithLocalHandoff(handoff))
			first := acquire(t, within(t), m)
			next := acquiring(within(t), m)
			time.Sleep(100 * time.Millisecond) // it waits
			wire.on(once(opMulti, cut), nil)
			later := make(chan struct{})
			asked := wire.holdBack(opDelete, later)
			if _, err := first.Multi(within(t), &zk.SetDataRequest{Path: "/lock", Data: []byte("first"), Version: -1}); !errors.Is(err, recipes.ErrOutcomeUnknown) {
				t.Errorf("the write whose connection breaks: %v", err)
			}
			released := make(chan error, 1)
			go func() { released <- first.Release(within(t)) }()
			<-asked
			time.Sleep(100 * time.Millisecond)
			select {
			case <-next:
				t.Error("the next one's turn comes while the first may still write")
			default:
			}
			close(later)
			if err := <-released; err != nil {
				t.Error(err)
			}
			release(t, (<-next).ok(t))
		})
	}
}
