package workload_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

// altered is a target whose clients or leases are wrapped.
type altered struct {
	lock.Target
	client func(lock.Client) lock.Client
}

func (a altered) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := a.Target.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return a.client(c), nil
}

// deaf is a client that ignores the end of its contexts.
type deaf struct{ lock.Client }

func (d deaf) Acquire(_ context.Context, name string) (lock.Lease, error) {
	return d.Client.Acquire(context.Background(), name)
}

// hoarder is a client whose releases of one lock do nothing.
type hoarder struct{ lock.Client }

func (h hoarder) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l, err := h.Client.Acquire(ctx, name)
	if err != nil || name != "lock-0" {
		return l, err
	}
	return kept{l}, nil
}

type kept struct{ lock.Lease }

func (kept) Release(context.Context) error { return nil }

func TestAnInterruptEndsTheRunSoon(t *testing.T) {
	servers(t) // their start must not count
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupt")
	var since time.Time
	r, _, err := drive(t, ctx, workload.Config{
		Target: target(t, "recipes"), Duration: time.Minute,
		Progress: func(p workload.Progress) { // one goroutine calls it, which ends before Run does
			if since.IsZero() && p.Cycles > 0 && len(p.Faults) == 2 {
				since = time.Now()
				cancel(interrupt)
			}
		},
		Schedule: &nemesis.Schedule{Steps: []nemesis.Step{
			{At: time.Second, For: time.Minute, Fault: "black-hole"}, {At: time.Second, For: time.Minute, Fault: "latency"},
		}},
	})
	if !errors.Is(err, interrupt) || !r.Interrupted {
		t.Errorf("error %v, interrupted %v", err, r.Interrupted)
	}
	if took := time.Since(since); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	if r.Cycles == 0 {
		t.Error("nothing is on record")
	}
}

// full is a recorder whose disk is full after some events.
type full struct {
	failed chan struct{}

	mu   sync.Mutex
	left int // events that still fit
}

var errFull = errors.New("no space left on device")

func TestARecorderThatCannotWriteEndsTheRun(t *testing.T) {
	local, network := servers(t)
	rec := newFull(500)
	start := time.Now()
	_, err := workload.Run(t.Context(), workload.Config{
		Ensemble: local, Network: network, Recorder: rec,
		Target: target(t, "naive"), Duration: time.Minute, Faults: []string{"none"},
	})
	if !errors.Is(err, errFull) {
		t.Errorf("error %v; want %v", err, errFull)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A census that is not on record leaves several guarantees unjudged.
func TestARunWhoseCensusIsRefusedFails(t *testing.T) {
	local, network := servers(t)
	rec, err := histories.NewRecorder(io.Discard, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = workload.Run(t.Context(), workload.Config{
		Ensemble: local, Network: network, Recorder: uncounted{rec},
		Target: target(t, "naive"), Duration: time.Second, Faults: []string{"none"},
	})
	if err == nil || !strings.Contains(err.Error(), "impossible event") {
		t.Errorf("error %v", err)
	}
}

// uncounted refuses the census.
type uncounted struct{ journal.Recorder }

func (u uncounted) Record(e histories.Event) (histories.Event, error) {
	if e.Type == histories.CensusDone {
		return e, errors.New("no census")
	}
	return u.Recorder.Record(e)
}

func TestATargetThatIgnoresItsContextIsTornOut(t *testing.T) {
	parallel(t)
	r, _, err := drive(t, t.Context(), workload.Config{
		Target:  altered{target(t, "recipes"), func(c lock.Client) lock.Client { return deaf{hoarder{c}} }},
		Clients: 3, Locks: 1, Duration: time.Second, SessionTimeout: time.Second, Faults: []string{"none"},
		Mix: cycle.Mix{Try: -1, Reenter: -1}, // the first acquire keeps the lock, the second waits for it
	})
	if err != nil && !strings.Contains(err.Error(), "did not return") {
		t.Error(err)
	}
	if len(r.Warnings) == 0 && err == nil {
		t.Error("the run returned neither a warning nor an error")
	}
}

func TestALockThatIsNotReleasedIsFound(t *testing.T) {
	r, report, err := drive(t, t.Context(), workload.Config{
		Target:  altered{target(t, "recipes"), func(c lock.Client) lock.Client { return hoarder{c} }},
		Clients: 3, Locks: 1, Duration: time.Second, SessionTimeout: time.Second, Faults: []string{"none"},
		Mix: cycle.Mix{Try: -1, Reenter: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Stuck) == 0 || len(r.Census.Contenders) == 0 {
		t.Errorf("stuck %v, contenders %v; want some of both", r.Stuck, r.Census.Contenders)
	}
	for _, guarantee := range []string{"no leak", "progress"} {
		if !violated(report, guarantee) {
			t.Errorf("%q was not found violated", guarantee)
		}
	}
}

func TestProcessesThatCrashAreReplaced(t *testing.T) {
	parallel(t)
	r, report, err := drive(t, t.Context(), workload.Config{
		Target: target(t, "plain"), Seed: 3, Clients: 4, Locks: 2, Duration: 3 * time.Second, SessionTimeout: time.Second,
		Faults: []string{"none"}, Mix: cycle.Mix{Crash: 0.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Expired < 2 {
		t.Errorf("%d sessions expired; want those of the crashed", r.Expired)
	}
	if violated(report, "mutual exclusion") || len(r.Stuck) > 0 {
		t.Errorf("a crash broke the lock: stuck %v", r.Stuck)
	}
}

func newFull(left int) *full { return &full{left: left, failed: make(chan struct{})} }

var _ journal.Recorder = (*full)(nil)

func (f *full) Elapsed() time.Duration { return 0 }

func (f *full) Failed() <-chan struct{} { return f.failed }

func (f *full) Record(e histories.Event) (histories.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left == 0 {
		close(f.failed)
	}
	if f.left <= 0 {
		return e, errFull
	}
	return e, nil
}

func (f *full) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left <= 0 {
		return errFull
	}
	return nil
}
