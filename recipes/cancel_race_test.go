package recipes_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// late is a context at the moment of its end: it has its error already, and its
// channel is not closed yet.
type late struct {
	context.Context
	ended atomic.Bool
	done  chan struct{}
}

func newLate(t *testing.T) *late { return &late{Context: within(t), done: make(chan struct{})} }

func (c *late) Done() <-chan struct{} { return c.done }

func (c *late) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return nil
}

// TestCurator79TheContextEndsAsTheConnectionBreaks: the node is created, the connection breaks,
// and the context ends before the acquire can look for the node.
func TestCurator79TheContextEndsAsTheConnectionBreaks(t *testing.T) {
	for name, test := range map[string]struct {
		op   int32
		make func(c *recipes.Client, path string) callFunc
	}{
		"the create of a mutex": {opCreate, func(c *recipes.Client, path string) callFunc {
			return leasing(recipes.NewMutex(c, path).Acquire)
		}},
		"the create of an acquirer of permits": {opCreate, func(c *recipes.Client, path string) callFunc {
			return permitsOf(recipes.NewSemaphore(c, path, 2), 2)
		}},
		"the permits": {opMulti, func(c *recipes.Client, path string) callFunc {
			return permitsOf(recipes.NewSemaphore(c, path, 2), 2)
		}},
		"the creates of a multi-lock": {opMulti, func(c *recipes.Client, path string) callFunc {
			return leasing(recipes.NewMultiLock(recipes.NewMutex(c, path+"/a"), recipes.NewMutex(c, path+"/b")).Acquire)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.at(uniquePath(t))
			call := test.make(s.c, s.path)
			for _, dir := range []string{"/a", "/b", "/locks", "/leases"} {
				persistent(t, s.conn, s.path+dir)
			}
			ctx := newLate(t)
			s.wire.on(once(opDelete, func() bool { close(ctx.done); return true }),
				once(test.op, func() bool { ctx.ended.Store(true); return false }))
			if l, err := call(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, %v", l, err)
			}
			s.leaves(nil)
			s.wire.on(nil, nil)
			s.release(s.must(call))
			s.leaves(nil)
		})
	}
}

// The clean-up of a failed try is interrupted, and the context ends before the clean-up can be
// repeated.
func TestKazoo732TheContextEndsAsTheCleanUpBreaks(t *testing.T) {
	s := newStage(t)
	s.at(uniquePath(t))
	held := s.must(leasing(recipes.NewMutex(s.other, s.path).Acquire))
	standing := s.nodes()
	ctx := newLate(t)
	s.wire.on(once(opDelete, func() bool { ctx.ended.Store(true); return false }), nil)
	if l, err := recipes.NewMutex(s.c, s.path).TryAcquire(ctx); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("got %v, %v", l, err)
	}
	s.leaves(standing)
	s.release(held)
}

// When an answer comes as the context ends, the caller gets the cause of the context and not the
// answer.
func TestACancelledAcquireReturnsItsCauseWhateverTheServersSay(t *testing.T) {
	s := newStage(t)
	s.at(uniquePath(t))
	for name, call := range map[string]callFunc{
		"a mutex":      leasing(recipes.NewMutex(s.c, s.path+"/a").Acquire),
		"permits":      permitsOf(recipes.NewSemaphore(s.c, s.path+"/b", 1), 1),
		"a multi-lock": leasing(recipes.NewMultiLock(recipes.NewMutex(s.c, s.path+"/c"), recipes.NewMutex(s.c, s.path+"/d")).Acquire),
	} {
		ctx := newLate(t) // there are no parents: the first answer is "no node"
		end := func() bool { ctx.ended.Store(true); return true }
		first := once(opCreate, end)
		if name == "a multi-lock" {
			first = once(opMulti, end)
		}
		s.wire.on(once(opCreateContainer, func() bool { close(ctx.done); return true }), first)
		if l, err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", name, l, err)
		}
		s.wire.on(nil, nil)
	}
	s.leaves(nil)
}

// A waiter with a GrantRule keeps its place when it is woken.
func TestACustomRuleKeepsPlaces(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(20*time.Second))
	m := recipes.NewMutex(c, path, recipes.WithGrantRule(twoAtATime))
	a, b := acquire(t, within(t), m), acquire(t, within(t), m)
	ctx, cancel := context.WithCancel(within(t))
	third := acquiring(ctx, m)
	eventually(t, "the third queues", func() bool { return len(contenders(t, conn, path)) == 3 })
	fourth := acquiring(within(t), m)
	eventually(t, "the fourth queues", func() bool { return len(contenders(t, conn, path)) == 4 })
	before := participants(t, m, 4)
	eventually(t, "they wait", func() bool { return watchesBelow(t, path) == 0 })
	cancel()
	<-third
	eventually(t, "the third has gone", func() bool { return len(contenders(t, conn, path)) == 3 })
	release(t, a)
	d := (<-fourth).ok(t)
	if d.Node() != before[3].Node {
		t.Errorf("the fourth has taken another place: %s, it had %s", d.Node(), before[3].Node)
	}
	release(t, b)
	release(t, d)
}
