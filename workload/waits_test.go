package workload_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/lock"
)

// sleeper is a lock one of whose waits misses its wake-up: it ends only with its context.
type sleeper struct {
	lock.Target
	waits *atomic.Int64
}

func (d sleeper) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := d.Target.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return sleeperClient{c, d.waits}, nil
}

type sleeperClient struct {
	lock.Client
	waits *atomic.Int64
}

func (c sleeperClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	if c.waits.Add(1) == 10 {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return c.Client.Acquire(ctx, name)
}

// The end of the faults, and of the time that they had, must not wake a client that would wait
// for ever.
func TestAWakeUpThatIsMissedUnderFaultsShows(t *testing.T) {
	parallel(t)
	_, report, err := drive(t, t.Context(), workload.Config{
		Target: sleeper{target(t, "recipes"), new(atomic.Int64)}, Seed: 1, Clients: 3, Locks: 1, Duration: time.Second,
		SessionTimeout: time.Second, Faults: []string{"none"}, Mix: cycle.Mix{Crash: -1, Try: -1, Timeout: -1, Cancel: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !violated(report, "progress") {
		t.Errorf("progress: %s", report.Verdict("progress"))
	}
}
