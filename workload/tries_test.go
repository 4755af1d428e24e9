package workload_test

import (
	"context"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/lock"
)

// refuser is a lock whose tries always fail.
type refuser struct{ lock.Target }

func (r refuser) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := r.Target.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return refusingClient{c}, nil
}

type refusingClient struct{ lock.Client }

func (refusingClient) TryAcquire(context.Context, string) (lock.Lease, error) {
	return nil, lock.ErrNotAcquired
}

func TestALockThatAlwaysRefusesTriesIsCaught(t *testing.T) {
	parallel(t)
	_, report, err := drive(t, t.Context(), workload.Config{
		Target: refuser{target(t, "recipes")}, Seed: 1, Clients: 3, Locks: 2, Duration: time.Second,
		SessionTimeout: time.Second, Faults: []string{"none"}, Mix: cycle.Mix{Crash: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !violated(report, "progress") {
		t.Errorf("progress: %s", report.Verdict("progress"))
	}
}
