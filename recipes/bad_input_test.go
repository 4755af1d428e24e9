package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// Bad input: each call with bad input returns a documented error, leaves no node behind, and
// disturbs no other call. Bad input of one recipe alone is in the files next to this one and in
// those of the barriers.

// everyCall returns every call that takes a context, of every recipe, at path. Each call releases
// what it acquires.
func everyCall(c *recipes.Client, path string) map[string]func(context.Context) error {
	mutex, rw := recipes.NewMutex(c, path), recipes.NewReadWriteMutex(c, path)
	handoff := recipes.NewMutex(c, path, recipes.WithLocalHandoff(3))
	single, several := recipes.NewNonReentrantMutex(c, path), recipes.NewSemaphore(c, path, 3)
	count := recipes.NewSharedCount(c, path, 3)
	shared := recipes.NewSharedSemaphore(c, fmt.Sprintf("/semaphore-%d/lock", nextID.Add(1)), count)
	multi := recipes.NewMultiLock(recipes.NewMutex(c, fmt.Sprintf("/multi-%d/lock", nextID.Add(1))), mutex)
	barrier, double := recipes.NewBarrier(c, path), recipes.NewDoubleBarrier(c, path, 1)
	calls := map[string]func(context.Context) error{
		"Mutex.Do": func(ctx context.Context) error {
			return mutex.Do(ctx, func(context.Context, *recipes.Lease) error { return nil })
		},
		"Mutex.Participants":     func(ctx context.Context) error { _, err := mutex.Participants(ctx); return err },
		"Semaphore.Participants": func(ctx context.Context) error { _, err := several.Participants(ctx); return err },
		"SharedCount.Get":        func(ctx context.Context) error { _, err := count.Get(ctx); return err },
		"SharedCount.Set":        func(ctx context.Context) error { return count.Set(ctx, 3) },
		"Barrier.Set":            barrier.Set,
		"Barrier.Wait":           barrier.Wait,
		"Barrier.Remove":         barrier.Remove,
		"DoubleBarrier.Enter":    double.Enter,
		"Client.Revoke":          func(ctx context.Context) error { return c.Revoke(ctx, path) },
	}
	for name, acquire := range map[string]callFunc{
		"Mutex.Acquire":                leasing(mutex.Acquire),
		"Mutex.TryAcquire":             leasing(mutex.TryAcquire),
		"Mutex.Acquire, handed on":     leasing(handoff.Acquire),
		"NonReentrantMutex.Acquire":    leasing(single.Acquire),
		"NonReentrantMutex.TryAcquire": leasing(single.TryAcquire),
		"Read.Acquire":                 leasing(rw.Read().Acquire),
		"Write.Acquire":                leasing(rw.Write().Acquire),
		"Write.TryAcquire":             leasing(rw.Write().TryAcquire),
		"Semaphore.AcquireN":           permitsOf(several, 2),
		"Semaphore.TryAcquire":         leasing(several.TryAcquire),
		"shared Semaphore.Acquire":     leasing(shared.Acquire),
		"MultiLock.Acquire":            leasing(multi.Acquire),
		"MultiLock.TryAcquire":         leasing(multi.TryAcquire),
	} {
		calls[name] = func(ctx context.Context) error {
			l, err := acquire(ctx)
			if err != nil {
				return err
			}
			return l.Release(ctx)
		}
	}
	return calls
}

// badPaths holds paths that ZooKeeper's servers refuse or interpret differently.
var badPaths = map[string]string{
	"empty":                            "",
	"the root":                         "/",
	"relative":                         "relative",
	"a slash at the end":               "/a/",
	"an empty name":                    "/a//b",
	"a dot":                            "/a/./b",
	"a dot at the end":                 "/a/.",
	"two dots":                         "/a/../b",
	"NUL":                              "/a\x00b",
	"a control character":              "/a\nb",
	"a control character behind ASCII": "/a\u0085b",
	"a character for private use":      "/a\ue000b",
	"a character beyond 16 bits":       "/a\U0001F512b",
	"a special character":              "/a\ufff0b",
	"no UTF-8":                         "/a\xffb",
	"too long":                         "/" + strings.Repeat("a", 8<<10),
}

func TestABadPathIsRefusedByEveryCallWithoutAskingTheServers(t *testing.T) {
	leavesNoGoroutine(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	for what, path := range badPaths {
		for name, call := range everyCall(c, path) {
			var asked atomic.Int64
			wire.on(counting(&asked), nil)
			if err := call(within(t)); !errors.Is(err, recipes.ErrBadPath) {
				t.Errorf("%s, %s: %.200v", name, what, err)
			}
			if n := asked.Load(); n > 0 && name != "shared Semaphore.Acquire" { // which checks the path of its count last
				t.Errorf("%s, %s: %d requests", name, what, n)
			}
		}
	}
	wire.on(nil, nil)
	works(t, c)
}

// counting returns a hook that counts the requests of calls.
func counting(n *atomic.Int64) func(op int32) bool {
	return func(op int32) bool {
		if opNames[op] != "" {
			n.Add(1)
		}
		return true
	}
}

// works checks that every call works at a path of its own.
func works(t *testing.T, c *recipes.Client) {
	t.Helper()
	for name := range everyCall(c, "/nowhere") {
		path := uniquePath(t)
		if name == "Client.Revoke" {
			path += "/lock-0000000000"
		}
		if err := everyCall(c, path)[name](within(t)); err != nil {
			t.Errorf("%s at a good path: %v", name, err)
		}
	}
}

func TestTheLongestPathAndUnusualNamesWork(t *testing.T) {
	ensembletest.EveryNight(t)
	needReal(t, "which names and lengths ZooKeeper takes")
	c := connect(t, addrsOf(t))
	for _, name := range []string{strings.Repeat("a", 8<<10-len("//lock-0000000000/leases")), "a b", "..a", "...", "ä", "漢字", "%2f"} {
		for what := range everyCall(c, "/nowhere") {
			path := fmt.Sprintf("/%s/lock-%010d", name, nextID.Add(1))
			if err := everyCall(c, path)[what](within(t)); err != nil {
				t.Errorf("%s at /%.10s: %.200v", what, name, err)
			}
		}
	}
}

func TestEveryCallWithAContextThatHasEndedReturnsItsCauseWithoutAskingTheServers(t *testing.T) {
	leavesNoGoroutine(t)
	var wire intercept
	var observed atomic.Int64
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithObserver(recipes.Observer{
		Acquiring: func(ctx context.Context, _ recipes.Acquiring) context.Context { observed.Add(1); return ctx },
	}))
	path := uniquePath(t) + "/lock-0000000000" // such as Revoke takes
	why := errors.New("not needed any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for name, call := range everyCall(c, path) {
		for range 5 { // the call or the close may be faster
			var asked atomic.Int64
			wire.on(counting(&asked), nil)
			if err := call(ctx); !errors.Is(err, why) {
				t.Errorf("%s: %v", name, err)
			}
			if n := asked.Load(); n > 0 {
				t.Errorf("%s: %d requests", name, n)
			}
			if n := observed.Swap(0); n > 0 {
				t.Errorf("%s: %d acquires observed", name, n)
			}
		}
	}
	wire.on(nil, nil)
	if exists(t, admin(t), path) {
		t.Error("a node is left")
	}
	works(t, c)
}

func TestEveryCallOnAClosedClientReturnsErrClosed(t *testing.T) {
	leavesNoGoroutine(t)
	c := connect(t, addrsOf(t))
	path := uniquePath(t) + "/lock-0000000000"
	calls := everyCall(c, path)
	for range 2 { // a second Close returns no error
		if err := c.Close(within(t)); err != nil {
			t.Error(err)
		}
	}
	for name, call := range calls {
		if err := call(within(t)); !errors.Is(err, recipes.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if exists(t, admin(t), path) {
		t.Error("a node is left")
	}
}

func TestEveryWaitEndsWithErrClosedWhenItsClientIsClosed(t *testing.T) {
	apart(t)
	for name, prepare := range trials {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			tr := s.begins(prepare)
			if tr.block == nil || tr.refused != nil {
				t.Skip("it does not wait")
			}
			blocker := s.must(tr.block)
			standing := s.nodes()
			watches := s.asked.Load()
			done := calling(within(t), tr.call)
			s.watched(watches)
			if err := s.c.Close(within(t)); err != nil {
				t.Error(err)
			}
			if o := s.await(done); !errors.Is(o.err, recipes.ErrClosed) {
				t.Errorf("got %v, %v", o.lease, o.err)
			}
			s.leaves(standing)
			s.release(blocker)
			s.leaves(nil)
			s.c = connect(t, addrsOf(t))
			again := prepare(s)
			s.release(s.must(again.call))
			s.leaves(nil)
		})
	}
}
