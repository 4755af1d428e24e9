package recipestest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/recipestest"
)

// file is the file that the code under test writes to. It records each write.
type file struct {
	mu    sync.Mutex
	lines []string
}

func (f *file) write(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, line)
}

func (f *file) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.lines)
}

// export is code under test that gets a lease: it writes one line a second while the lease is
// held, and pauses while the lease is suspended.
func export(lease *recipes.Lease, to *file) error {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-lease.Lost():
			return fmt.Errorf("the export is incomplete: %w", lease.Err())
		case <-every.C:
			if lease.State() == recipes.Held {
				to.write("line")
			}
		}
	}
}

func TestTheExportStopsWhenItsLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := recipestest.NewLease(t)
		var to file
		done := make(chan error)
		go func() { done <- export(lease.Lease, &to) }()
		time.Sleep(5500 * time.Millisecond)

		lease.Lose(recipes.LossSessionExpired)
		if err := <-done; !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("it ended with %v", err)
		}
		if to.len() != 5 {
			t.Errorf("it wrote %d lines in five seconds", to.len())
		}
	})
}

func TestTheExportPausesWhileItsLeaseIsSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := recipestest.NewLease(t, recipes.WithSessionTimeout(10*time.Second))
		var to file
		done := make(chan error)
		go func() { done <- export(lease.Lease, &to) }()

		lease.Suspend()
		time.Sleep(5 * time.Second)
		if to.len() != 0 {
			t.Errorf("it wrote %d lines in a suspension", to.len())
		}
		lease.Resume()
		time.Sleep(5 * time.Second)
		if to.len() == 0 {
			t.Error("it did not go on")
		}
		lease.Lose(recipes.LossNodeDeleted)
		<-done
	})
}

// nightly is code under test that acquires its lock itself: if another process has the lock, it
// returns without running the job; if its lease is lost, it begins again.
func nightly(ctx context.Context, client *recipes.Client, job func(context.Context) error) error {
	lock := recipes.NewMutex(client, "/nightly")
	for {
		lease, err := lock.TryAcquire(ctx)
		if errors.Is(err, recipes.ErrNotAcquired) {
			return nil
		}
		if err != nil {
			return err
		}
		err = job(lease.Context())
		if err := lease.Release(ctx); errors.Is(err, recipes.ErrLeaseLost) {
			continue
		}
		return err
	}
}

func TestTheNightlyJobBeginsAgainWhenItsLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := recipestest.NewClient(t)
		var ended []error
		done := make(chan error, 1)
		go func() {
			done <- nightly(t.Context(), client.Client, func(ctx context.Context) error {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute): // the job's work
				}
				ended = append(ended, context.Cause(ctx))
				return nil
			})
		}()
		client.Lease("/nightly").Lose(recipes.LossDeadlinePassed)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !slices.Equal(ended, []error{recipes.ErrLeaseLost, nil}) {
			t.Errorf("the jobs ended with %v", ended)
		}
	})
}

func TestTheNightlyJobLeavesTheWorkToAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := recipestest.NewClient(t)
		client.Occupy("/nightly")
		if err := nightly(t.Context(), client.Client, nil); err != nil { // a job would panic
			t.Error(err)
		}
	})
}
