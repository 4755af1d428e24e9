package faults

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// killWorkerKind kills the process that a lock's holder lives in. Its sessions
// live on until they expire; its clients open new ones when the process has been
// started again.
func killWorkerKind() fault.Kind {
	return fault.Kind{
		Name:        "kill-worker",
		Description: "a process of clients is killed (SIGKILL), and started again",
		Needs:       fault.NeedsWorkers, Weight: 1,
		Span: fault.Timeouts(0.1, 0.5),
		Make: func(s fault.Scene) (fault.Fault, error) {
			f, worker, workers, err := workerFault(s, "kill-worker")
			f.HealWithin = startWithin
			f.Start = func(context.Context) error { workers.Kill(worker); return nil }
			f.Stop = func(ctx context.Context) error { return workers.Start(ctx, worker) }
			return f, err
		},
	}
}

// startWithin bounds the time for a worker process to start.
const startWithin = 30 * time.Second
