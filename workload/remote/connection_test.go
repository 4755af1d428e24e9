package remote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

func TestTwoClientsInOneWorkerTakeTurns(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	a, b := openMemory(t, connection), openMemory(t, connection)
	first, err := a.Acquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.TryAcquire(t.Context(), "lock-0"); !errors.Is(err, lock.ErrNotAcquired) || !strings.Contains(err.Error(), "somebody has it") {
		t.Errorf("a try while another holds: %v; want ErrNotAcquired in the target's words", err)
	}
	got := make(chan lock.Lease)
	go func() {
		l, _ := b.Acquire(context.Background(), "lock-0")
		got <- l
	}()
	if !first.Valid() {
		t.Error("the lease of the first is not valid")
	}
	if err := first.Release(t.Context()); err != nil {
		t.Error(err)
	}
	second := <-got
	if second == nil || second.Token().Zxid <= first.Token().Zxid {
		t.Errorf("the second got %v after %v", second, first.Token())
	}
	if err := first.Release(t.Context()); err == nil {
		t.Error("a lease that was given back is there to be given back again")
	}
	if err := second.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAPlaceInTheQueueOfAWorkerComesAsItWasReported(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	var places []lock.Place
	ctx := lock.WithAttempt(t.Context(), lock.Attempt{Enqueued: func(p lock.Place) { places = append(places, p) }})
	l, err := openMemory(t, connection).Acquire(ctx, "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	want := lock.Place{Lock: "lock-0", Sequence: 7, Session: "0x0000000000000009"}
	if len(places) != 1 || places[0] != want {
		t.Errorf("reported %+v, want %+v", places, want)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAWaitInAWorkerEndsWithItsContextAndLeavesNothing(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	a, b := openMemory(t, connection), openMemory(t, connection)
	held, err := a.Acquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Acquire(ctx, "lock-0"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait with a deadline: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := b.Acquire(ctx, "lock-0"); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was cancelled: %v", err)
	}
	if err := held.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if l, err := b.TryAcquire(t.Context(), "lock-0"); err != nil {
		t.Errorf("after the waits were over: %v", err)
	} else if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALossInAWorkerIsTold(t *testing.T) {
	connection, m, _ := hostedMemory(t)
	c := openMemory(t, connection)
	l, err := c.Acquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.Lost():
		t.Error("lost at once")
	default:
	}
	m.lose()
	<-l.Lost()
	if l.Valid() {
		t.Error("a lost lease is valid")
	}
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("its release: %v, want ErrLost", err)
	}
}

func TestAHolderInAWorkerHearsOfRequests(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	a, b := openMemory(t, connection), openMemory(t, connection)
	if _, _, err := b.Revocable().Holder(t.Context(), "revocation-0"); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("the holder of a free lock: %v", err)
	}
	l, err := a.Revocable().Acquire(t.Context(), "revocation-0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan struct{})
	l.(lock.RevocableLease).OnRevoke(func() { close(heard) })
	token, node, err := b.Revocable().Holder(t.Context(), "revocation-0")
	if err != nil || token != l.Token() {
		t.Fatalf("the holder is %v, %v", token, err)
	}
	if err := b.Revocable().Revoke(t.Context(), node); err != nil {
		t.Error(err)
	}
	<-heard
}

// novelty is a recipe that this package does not know.
const novelty histories.Recipe = "novelty"

// novelTarget offers the recipe novelty, by a lock in memory.
type novelTarget struct{ *inMemory }

func (n novelTarget) Open(_ context.Context, env lock.Env) (lock.Client, error) {
	return novelClient{&memoryClient{n.inMemory, env}}, nil
}

type novelClient struct{ *memoryClient }

func (novelClient) Offers(r histories.Recipe) bool { return r == novelty }

func (c novelClient) LockerByName(r histories.Recipe, mode histories.Mode) lock.Locker {
	if r != novelty || mode != histories.ModeRead {
		return nil
	}
	return c.memoryClient
}

// The checklist of CONTRIBUTING.md names no file of this package, nor of package worker, for a
// recipe whose locks are acquired and released one by one.
func TestARecipeThatIsAcquiredAndReleasedNeedsNothingInAWorker(t *testing.T) {
	connection, _ := hosted(t, novelTarget{newMemory()})
	c := openMemory(t, connection)
	if _, err := lock.LockerOf(c, novelty, histories.ModeRead); err == nil {
		t.Error("a locker of a recipe that the worker has not said it offers")
	}
	c.has = append(c.has, novelty) // as the worker would for a recipe of histories.Recipes
	l, err := lock.LockerOf(c, novelty, histories.ModeRead)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := l.Acquire(t.Context(), "novelty-0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryAcquire(t.Context(), "novelty-0"); !errors.Is(err, lock.ErrNotAcquired) {
		t.Errorf("a try of a lock that is held: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWhatATargetLacksIsAnErrorNotTheWorkersEnd(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	c := openMemory(t, connection)
	if !c.Offers(histories.Mutex) || !c.Offers(histories.Revocation) || c.Offers(histories.Barrier) {
		t.Errorf("it offers %v", c.has)
	}
	for what, do := range map[string]func() error{
		"barrier":        func() error { return c.SetBarrier(t.Context(), "barrier-0") },
		"double barrier": func() error { _, err := c.EnterBarrier(t.Context(), "doublebarrier-0"); return err },
		"semaphore":      func() error { _, err := c.Semaphore().AcquireN(t.Context(), "semaphore-0", 2); return err },
		"multi-lock":     func() error { _, err := c.AcquireAll(t.Context(), []string{"multilock-0"}); return err },
		"size":           func() error { return c.SharedSemaphore().SetSize(t.Context(), "sharedsemaphore-0", 2) },
		"nonreentrant": func() error {
			_, err := c.LockerByName(histories.NonReentrant, "").Acquire(t.Context(), "nonreentrant-0")
			return err
		},
	} {
		if err := do(); err == nil || errors.Is(err, errWorkerGone) || !strings.Contains(err.Error(), "offers no") {
			t.Errorf("%s: %v", what, err)
		}
	}
	held, err := c.TryAcquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []protocol.Command{{Do: "dance", Client: c.number}, {Do: "acquire", Client: 99}, {Do: "valid", Client: c.number, Lease: 99}, {Do: protocol.DoSet, Client: c.number, Lease: held.(*lease).id, Node: "/n"}, {Do: protocol.DoOpen, Env: &protocol.Where{Target: "other"}}, {Do: protocol.DoOpen}} {
		if _, err := connection.ask(t.Context(), what, nil, nil); err == nil || errors.Is(err, errWorkerGone) {
			t.Errorf("%+v: %v", what, err)
		}
	}
	if !c.Awake() {
		t.Error("it does not answer any more")
	}
}

func TestACrashedClientIsForgottenAndAnotherMayOpen(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	c := openMemory(t, connection)
	if _, err := c.Acquire(t.Context(), "lock-0"); err != nil {
		t.Fatal(err)
	}
	c.Tear()
	if _, err := c.TryAcquire(t.Context(), "lock-0"); !errors.Is(err, lock.ErrCrashed) {
		t.Errorf("a crashed client's try: %v", err)
	}
	c.Crash()
	if len(connection.leases) != 0 {
		t.Errorf("leases are remembered: %v", connection.leases)
	}
	if l, err := openMemory(t, connection).TryAcquire(t.Context(), "lock-0"); err != nil {
		t.Error("its death freed nothing:", err)
	} else if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
